/** The library. Every export is described in src/guides/library.md and keeps its meaning between minor versions. */

// Agent sessions
export {
  type AnswerSessionOptions,
  answerSession,
  type SessionEnd,
} from './agent-session/client/answer-session.js';
export { type Answerer, answerWith, type ToolFunctions } from './agent-session/client/answerer.js';
export type { PendingCall as SessionCall } from './agent-session/client/pending-calls.js';
// Check
export type { ConcernedCall } from './check/concerned.js';
export { type CheckOptions, checkTranscript } from './check/judge.js';
export type { Check, CheckReport, CheckStatus, OtherRun, Runs } from './check/report.js';
export type { Requirement, Spot } from './check/rule.js';
export { REQUIREMENTS } from './check/rules/index.js';
// The four systems
export type {
  Answer,
  AnsweredCall,
  Dialect,
  DialectName,
  Feature,
  Reading,
  ValidReading,
  WriteWarning,
  Writing,
} from './dialects/dialect.js';
export { DIALECTS, readAs, type Translatable, translate, writeAs } from './dialects/dialects.js';
// Events and transcripts
export type {
  AnsweredEvent,
  Answerer as AnsweredBy,
  AwaitingEvent,
  Body,
  BrokenEvent,
  DecidedEvent,
  DeniedEvent,
  DriverEvent,
  DroppedEvent,
  Event,
  EventBase,
  ExitedEvent,
  ExpectedEvent,
  ExpiredEvent,
  LoadedEvent,
  MatchedEvent,
  NearestFixture,
  Party,
  PendingCall,
  PlannedEvent,
  Planner,
  Purpose,
  RequestEvent,
  ResponseEvent,
  SessionEvent,
  ShapedEvent,
  Turn,
  WarnedEvent,
} from './events/events.js';
export {
  type Arrival,
  type Attempt,
  type Exchange,
  llmTextOf,
  type McpAnswer,
  outcomeOf,
  type Progress,
  type Question,
  type Selection,
  type Settlement,
  type Subscription,
  type SubscriptionEnd,
  type Verdict,
} from './events/exchange.js';
export type { SentRequest } from './events/round-trips.js';
export type { Thread, View } from './events/threads.js';
export type { Awaits, CallbackDelivery, ToolCall } from './events/tool-call.js';
export {
  type Observer,
  readTranscript,
  readTranscripts,
  type Transcript,
  type TranscriptHeader,
} from './events/transcript-reader.js';
export { type TranscriptAbout, type TranscriptWriter, transcriptWriter } from './events/transcript-writer.js';
// Fixtures
export type { FixtureText } from './fixtures/file-errors.js';
export type { Difference } from './fixtures/pattern.js';
export type { NamedRecording, RecordedFile } from './fixtures/read-fixtures.js';
export {
  fixturesOfTranscript,
  type RecordedFixtures,
  type RecordedOptions,
} from './fixtures/recording/from-transcript.js';
export { parseSessionScript, readSessionScript } from './fixtures/session-script.js';
export type {
  ScriptCall,
  SessionFault,
  SessionScript,
  SessionSwitches,
  SessionTool,
  SessionTurn,
} from './fixtures/session-script-types.js';
export { type Connection, connect } from './library/connect.js';
export {
  type DeclaredToolset,
  type Fixture,
  type FixtureSet,
  parseFixtures,
  readFixtures,
} from './library/fixtures.js';
export { History } from './library/history.js';
// Serve a tool
export {
  type FixtureSource,
  type MockTool,
  type MockToolOptions,
  startMockTool,
} from './library/mock-tool.js';
export {
  type AgentToolCall,
  type PostedCall,
  type SessionPlatform,
  type SessionPlatformOptions,
  type SessionState,
  type SettledToolCall,
  startSessionPlatform,
} from './library/session-platform.js';
export { defineTool, type HandlerCall, type HandlerInput, type ToolDefinition } from './mock/handlers.js';
export type { Middleware } from './mock/middleware.js';
export type { CloseOptions } from './mock/mock.js';
export type { CallFilter, DeliveryWait, WaitOptions } from './mock/mock-tool.js';
export type { Rate, ToolsetFields } from './mock/responder.js';
export type {
  ArgumentsOf,
  JsonSchema,
  ObjectOf,
  PropertiesOf,
  RequiredOf,
  ValueOf,
} from './mock/schema-types.js';
export {
  canceled,
  denied,
  error,
  payload,
  result,
  silence,
  type ToolOutput,
  timeout,
} from './mock/tool-output.js';
// The protocol's messages
export {
  type Callback,
  type CallbackReading,
  type CallbackType,
  callbackSchema,
  type OAuth,
  type QuestionMessage,
  readCallback,
  type ToolResult,
  type UserChoice,
} from './protocol/callbacks.js';
export { type Addressee, type Invocation, invocationSchema } from './protocol/invocation.js';
export {
  type JudgedOutcome,
  llmText,
  type Outcome,
  type OutcomeBasis,
  outcomeOfText,
  textOfOutcome,
} from './protocol/outcome.js';
export { readToolset, type ToolsetReading, type ValidToolset } from './protocol/read-toolset.js';
export { REQUIREMENT_IDS, type RequirementId, type Side, type Warning } from './protocol/requirements.js';
export type { SessionStatus } from './protocol/session.js';
export { type Tool, type Toolset, toolsetSchema } from './protocol/toolset.js';
// Call a tool
export type { ListenerOptions } from './runtime/callback-server.js';
export type { ConnectOptions, InvokeSettings } from './runtime/connect.js';
// Redaction, JSON, errors
export type { Findings } from './util/collections.js';
export { type ErrorCode, type ErrorDetails, ProtocolCliError } from './util/errors.js';
export { type JsonReading, readJson } from './util/json.js';
export type { LongLine, OutputLine } from './util/output-line.js';
export { createRedactor, type Redactor } from './util/redact.js';
export type {
  AgentCall,
  Expectation,
  FixtureVerdict,
  SessionProblem,
  SessionVerificationReport,
  UndeliveredCallback,
  UnmatchedCall,
  VerificationReport,
} from './verification/report.js';
