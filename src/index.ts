/** The library. Every export is described in src/guides/library.md and keeps its meaning between minor versions. */

export {
  type Answerer,
  type AnswerSessionOptions,
  answerSession,
  answerWith,
  type SessionEnd,
} from './agent-session/client/answering.js';
export { type SessionPlatform, startSessionPlatform } from './agent-session/platform/platform.js';
// Check
export { type CheckOptions, type CheckReport, checkTranscript, REQUIREMENTS } from './check/judge.js';
// The four systems
export { DIALECTS, readAs, translate, writeAs } from './dialects/dialects.js';
// Events and transcripts
export type { Event } from './events/events.js';
export { type Exchange, llmTextOf, outcomeOf } from './events/exchange.js';
export { History } from './events/history.js';
export { readTranscript, readTranscripts, type Transcript } from './events/transcript-reader.js';
export { transcriptWriter } from './events/transcript-writer.js';
// Fixtures
export type { FixtureSet } from './fixtures/fixture-set.js';
export { parseFixtures, readFixtures } from './fixtures/read-fixtures.js';
export { fixturesOfTranscript } from './fixtures/recording/from-transcript.js';
// Agent sessions
export { parseSessionScript, readSessionScript, type SessionScript } from './fixtures/session-script.js';
export {
  canceled,
  defineTool,
  denied,
  error,
  type HandlerCall,
  type HandlerInput,
  payload,
  result,
  silence,
  type ToolDefinition,
  type ToolOutput,
  timeout,
} from './mock/handlers.js';
export type { Middleware } from './mock/middleware.js';
// Serve a tool
export {
  type MockTool,
  type StartMockToolOptions as MockToolOptions,
  startMockTool,
} from './mock/mock-tool.js';
// The protocol's messages
export { type Callback, callbackSchema, readCallback, type UserChoice } from './protocol/callbacks.js';
export { type Invocation, invocationSchema } from './protocol/invocation.js';
export { llmText, type Outcome, outcomeOfText, textOfOutcome } from './protocol/outcome.js';
export { readToolset } from './protocol/read-toolset.js';
export type { RequirementId } from './protocol/requirements.js';
export { type Toolset, toolsetSchema } from './protocol/toolset.js';
// Call a tool
export { type Connection, type ConnectOptions, connect, type InvokeSettings } from './runtime/connect.js';

// Redaction, JSON, errors
export { type ErrorCode, ProtocolCliError } from './util/errors.js';
export { readJson } from './util/json.js';
export { createRedactor, type Redactor } from './util/redact.js';
