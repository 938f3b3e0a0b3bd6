export type { Check, CheckStatus } from './check/judge.js';
export type { CheckReport } from './check/report.js';
export { type CheckOptions, checkTranscript } from './check/report.js';
export type { Requirement } from './check/rule.js';
export { REQUIREMENTS } from './check/rules/all.js';
export type {
  Answer,
  AnsweredCall,
  Dialect,
  DialectName,
  Feature,
  Image,
  Reading,
  SoundReading,
  WriteWarning,
  Writing,
} from './dialects/dialect.js';
export { DIALECTS, readAs, type Translatable, translate, writeAs } from './dialects/dialects.js';
export { Content } from './events/content.js';

export type { Event, EventKind, Fact } from './events/events.js';
export type { Arrival, Attempt, Exchange, Settlement, Verdict } from './events/exchange.js';
export { llmTextOf, outcomeOf } from './events/exchange.js';
export { begin, judge, step } from './events/fold-exchange.js';
export { History } from './events/history.js';
export { createLog, type Log } from './events/log.js';
export type { ToolCall } from './events/tool-call.js';
export { type ToolCallState, toolCallState } from './events/tool-call.js';
export { readTranscript, readTranscripts, type Transcript } from './events/transcript-reader.js';
export { transcriptWriter } from './events/transcript-writer.js';
export type {
  SessionProblem,
  SessionVerificationReport,
  VerificationReport,
} from './events/verification-report.js';
export type { FixtureSet } from './fixtures/fixture-set.js';
export { type FixtureText, readFixtures } from './fixtures/read-fixtures.js';
export { parseFixtures } from './fixtures/reading/check-set.js';
export type { NamedRecording } from './fixtures/recorded/together.js';
export {
  fixturesOfTranscript,
  type RecordedFile,
  type RecordedFixtures,
} from './fixtures/recording/from-transcript.js';
export type { SessionScript } from './fixtures/session-script.js';
export { parseSessionScript, readSessionScript } from './fixtures/session-script.js';
export type { ArgumentsOf, JsonSchema } from './mock/handlers.js';
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
export {
  type MockTool,
  type StartMockToolOptions as MockToolOptions,
  startMockTool,
} from './mock/mock-tool.js';
export type { ContentItem, ToolResult } from './protocol/callbacks/tool-result.js';
export {
  type Callback,
  type CallbackReading,
  callbackSchema,
  type OAuth,
  readCallback,
  type SubscriptionEvent,
  type UserChoice,
  type ViewUpdate,
} from './protocol/callbacks.js';
export {
  type JudgedOutcome,
  llmText,
  type Outcome,
  outcomeOfText,
  outcomeSchema,
  textOfOutcome,
} from './protocol/outcome.js';
export { type Invocation, invocationSchema } from './protocol/read-invocation.js';
export { readToolset } from './protocol/read-toolset.js';
export type { RequirementId, Warning } from './protocol/requirements.js';
export { type Tool, type Toolset, toolsetSchema } from './protocol/toolset.js';
export { type Connection, type ConnectOptions, connect, type InvokeSettings } from './runtime/connect.js';
export type { SessionEnd } from './session/client/answering.js';
export { type AnswerSessionOptions, answerSession } from './session/client/answering.js';
export type { PendingCall } from './session/client/pending-calls.js';
export { type Answerer, answerWith, type ToolFunctions } from './session/client/pending-calls.js';
export {
  type SessionPlatform,
  type SessionPlatformOptions,
  type SessionState,
  startSessionPlatform,
} from './session/platform/platform.js';
export { type ErrorCode, ProtocolCliError } from './util/errors.js';
export { readJson } from './util/json.js';
export { createRedactor } from './util/redact.js';

/**
 * The library. Everything here is public and keeps its meaning between minor versions; nothing in `src` imports it.
 */
