/**
 * The library. Everything here is public and keeps its meaning between minor versions; nothing in `src` imports it.
 */
export type {
  Answer,
  AnsweredCall,
  Carriage,
  Dialect,
  DialectName,
  Feature,
  Image,
  Loss,
  Reading,
  SoundReading,
  Writing,
} from './dialects/dialect.js';
export { DIALECTS, readAs, type Translatable, translate, writeAs } from './dialects/index.js';
export { type ErrorCode, ProtocolCliError } from './errors.js';
export { Content } from './exchange/content.js';
export { llmTextOf, outcomeOf } from './exchange/ending.js';
export type { Event, EventKind, Fact } from './exchange/events.js';
export type { Arrival, Attempt, Exchange, Settlement } from './exchange/exchange.js';
export { History } from './exchange/history.js';
export { judge } from './exchange/judge.js';
export { createLog, type Log } from './exchange/log.js';
export { begin, step } from './exchange/step.js';
export type { ToolCall } from './exchange/tool-call.js';
export { type ToolCallState, toolCallState } from './exchange/tool-call.js';
export { readTranscript, readTranscripts, type Transcript } from './exchange/transcript-reader.js';
export { transcriptWriter } from './exchange/transcript-writer.js';
export type { Verdict } from './exchange/verdict.js';
export type { VerificationReport } from './exchange/verification/report.js';
export type { SessionProblem, SessionVerificationReport } from './exchange/verification/session-report.js';
export type { FixtureSet } from './fixtures/fixture-set.js';
export { parseFixtures } from './fixtures/parse-fixtures.js';
export { type FixtureText, readFixtures } from './fixtures/read-fixtures.js';
export {
  fixturesOfTranscript,
  type RecordedFile,
  type RecordedFixtures,
} from './fixtures/recorded/fixtures-of-transcript.js';
export type { NamedRecording } from './fixtures/recorded/together.js';
export { parseSessionScript } from './fixtures/session/parse-script.js';
export { readSessionScript } from './fixtures/session/read-script.js';
export type { SessionScript } from './fixtures/session/script.js';
export { outcomeOfText, textOfOutcome } from './outcome/conventions.js';
export { type JudgedOutcome, type Outcome, outcomeSchema } from './outcome/outcome.js';
export {
  type Callback,
  type ContentItem,
  callbackSchema,
  type OAuth,
  type SubscriptionEvent,
  type ToolResult,
  type UserChoice,
  type ViewUpdate,
} from './protocol/callbacks/index.js';
export { type CallbackReading, readCallback } from './protocol/callbacks/read.js';
export { type Invocation, invocationSchema } from './protocol/invocation.js';
export { llmText } from './protocol/llm-text.js';
export { readToolset } from './protocol/read-toolset.js';
export { REQUIREMENTS, type Requirement, type RequirementId, type Warning } from './protocol/requirements.js';
export { type Tool, type Toolset, toolsetSchema } from './protocol/toolset.js';
export { type CheckOptions, checkTranscript } from './rules/check-transcript.js';
export type { Check, CheckStatus } from './rules/judge.js';
export type { CheckReport } from './rules/report.js';
export { type Connection, type ConnectOptions, connect, type InvokeSettings } from './runtime/connect.js';
export { type AnswerSessionOptions, answerSession } from './session/answering/answer-session.js';
export { type Answerer, answerWith, type ToolFunctions } from './session/answering/answerer.js';
export type { SessionEnd } from './session/answering/answering.js';
export type { PendingCall } from './session/answering/pending-calls.js';
export type { SessionPlatformOptions } from './session/platform/options.js';
export {
  type SessionPlatform,
  type SessionState,
  startSessionPlatform,
} from './session/platform/platform.js';
export { readJson } from './text/json.js';
export { createRedactor } from './text/redact.js';
export type { ArgumentsOf, JsonSchema } from './tool/handlers/arguments-of.js';
export {
  defineTool,
  type HandlerCall,
  type HandlerInput,
  type ToolDefinition,
} from './tool/handlers/define-tool.js';
export {
  canceled,
  denied,
  error,
  payload,
  result,
  silence,
  type ToolOutput,
  timeout,
} from './tool/handlers/output.js';
export type { Middleware } from './tool/middleware/middlewares.js';
export {
  type MockTool,
  type StartMockToolOptions as MockToolOptions,
  startMockTool,
} from './tool/mock-tool.js';
