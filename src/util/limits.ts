/** A limit that a peer can reach. */
interface Limit {
  /** In bytes, milliseconds, characters, or a number of what it limits. */
  readonly value: number;
  readonly what: string;
  /** What happens beyond it. */
  readonly beyond: string;
  /** The row of the table of attacks in the guide `security`. */
  readonly threat: number;
}

const KIB = 1024;

const MIB = 1024 * KIB;

const DROPPED = 'the oldest are dropped from memory, not from a transcript';

/** Every limit that a peer can reach. Limits of what is drawn stand beside the code that draws it. */
export const LIMITS = {
  connections: {
    value: 256,
    what: 'connections of a server',
    beyond: 'the one that is unfinished for longest is closed, or the new one if all are worked on',
    threat: 14,
  },
  headersMs: { value: 5_000, what: 'time for the headers of a request', beyond: '408', threat: 14 },
  requestMs: {
    value: 15_000,
    what: 'time for a request, and for a client that does not read its answer',
    beyond: '408; the connection is closed',
    threat: 14,
  },
  refusedMs: {
    value: 1_000,
    what: 'time in which a refused client may go on sending',
    beyond: 'the connection is closed',
    threat: 14,
  },
  refusedBytes: {
    value: 16 * MIB,
    what: 'bytes that a refused client may go on sending',
    beyond: 'the connection is closed',
    threat: 15,
  },
  headerBytes: {
    value: 16 * KIB,
    what: 'headers of a request or of an answer',
    beyond: '431; an answer is invalid HTTP',
    threat: 15,
  },
  invocationBytes: {
    value: 10 * MIB,
    what: 'invocation (`--max-body`)',
    beyond: '413',
    threat: 15,
  },
  messageBytes: {
    value: 64 * MIB,
    what: 'callback (`--max-body`), message of an MCP server, answer of a session platform',
    beyond: '413; an answer is a failure',
    threat: 15,
  },
  sessionBodyBytes: {
    value: 10_000_000,
    what: 'request to `session mock`',
    beyond: '413',
    threat: 15,
  },
  attachedBytes: {
    value: 7_000_000,
    what: 'files of a message to `session mock`, decoded',
    beyond: '422',
    threat: 15,
  },
  webhooks: { value: 100, what: 'webhooks of `session mock`', beyond: '429', threat: 15 },
  webhookDeliveries: {
    value: 1_000,
    what: 'deliveries of webhooks that wait',
    beyond: 'the next ones are dropped',
    threat: 15,
  },
  webhookFailures: {
    value: 10,
    what: 'deliveries of a webhook that fail in a row',
    beyond: 'it is disabled, with a warning',
    threat: 15,
  },
  webhookMs: {
    value: 10_000,
    what: 'time for an answer to a delivery of a webhook',
    beyond: 'the delivery failed',
    threat: 14,
  },
  modelBodyBytes: { value: 32 * MIB, what: 'request to the scripted model', beyond: '413', threat: 15 },
  keptNames: {
    value: 500,
    what: 'names of operations and arguments of a server that are kept for completion',
    beyond: 'the rest is not kept',
    threat: 15,
  },
  toolsetBytes: { value: 10 * MIB, what: 'toolset', beyond: 'it is a failure', threat: 15 },
  acknowledgementBytes: {
    value: 16 * KIB,
    what: 'acknowledgement',
    beyond: 'only the beginning is read',
    threat: 15,
  },
  forwardedBytes: {
    value: MIB,
    what: 'answer to a RAP message that `record` forwards',
    beyond: 'only the beginning is passed on',
    threat: 15,
  },
  excerptBytes: { value: 4 * KIB, what: 'refusal', beyond: 'only the beginning is read', threat: 15 },
  errorBytes: {
    value: 64 * KIB,
    what: 'error of a session platform, answer that is not wanted',
    beyond: 'only the beginning is read',
    threat: 15,
  },
  urlChars: {
    value: 8 * KIB,
    what: 'callback URL of a call that `record` forwards',
    beyond: '403',
    threat: 15,
  },
  jsonDepth: { value: 128, what: 'levels of JSON', beyond: 'it is invalid', threat: 18 },
  compileMs: {
    value: 2_000,
    what: 'time to compile a schema',
    beyond: 'it is reported as unusable',
    threat: 22,
  },
  validateMs: {
    value: 250,
    what: 'time to validate a value',
    beyond: 'the schema is reported as unusable',
    threat: 22,
  },
  patternMs: {
    value: 100,
    what: 'time to match a pattern of a fixture',
    beyond: 'it does not match',
    threat: 22,
  },
  exampleMs: {
    value: 1_000,
    what: 'time to make example values of one schema for `check`',
    beyond: 'operations without them are not called, with a warning',
    threat: 22,
  },
  examplesMs: {
    value: 5_000,
    what: 'time to make example values of all schemas for `check`',
    beyond: 'operations without them are not called, with a warning',
    threat: 22,
  },
  discoveryMs: { value: 10_000, what: 'time for a toolset', beyond: 'it is a failure', threat: 14 },
  retryAfterMs: {
    value: 60_000,
    what: 'pause that a session platform asks for (`Retry-After`)',
    beyond: 'the command fails',
    threat: 14,
  },
  openCalls: { value: 50_000, what: 'open calls of a mock', beyond: '503', threat: 15 },
  openCallBytes: {
    value: 32 * MIB,
    what: 'invocations of the open calls of a mock',
    beyond: '503',
    threat: 15,
  },
  pendingCallbacks: {
    value: 10_000,
    what: 'callbacks of a mock that are not delivered (`--max-pending`)',
    beyond: 'the next ones are dropped, and counted',
    threat: 15,
  },
  mcpSessions: { value: 1_000, what: 'sessions of an MCP mock', beyond: 'the oldest is closed', threat: 15 },
  sessions: { value: 1_000, what: 'sessions of `session mock`', beyond: '429', threat: 15 },
  sessionBytes: { value: 128 * MIB, what: 'contents of all sessions', beyond: '429', threat: 15 },
  smallResultBytes: {
    value: 64 * KIB,
    what: 'results that `session mock` always accepts',
    beyond: '429 if the sessions are full',
    threat: 15,
  },
  eventsKept: {
    value: 10_000,
    what: 'events in memory, and finished calls that a verification remembers',
    beyond: `${DROPPED}; late repeats of the oldest calls are not recognized`,
    threat: 15,
  },
  keptBytes: { value: 32 * MIB, what: 'bytes of events in memory', beyond: DROPPED, threat: 15 },
  callsKept: { value: 2_000, what: 'calls in memory', beyond: DROPPED, threat: 15 },
  eventsOfCall: {
    value: 2_000,
    what: 'events of one call in memory, and requests outside calls',
    beyond: 'the oldest are dropped, and counted; repeated results are still recognized',
    threat: 15,
  },
  callsRemembered: {
    value: 50_000,
    what: 'calls, questions and secrets that a server remembers',
    beyond: 'the oldest are forgotten; their callbacks and answers get a 404',
    threat: 15,
  },
  openQuestions: {
    value: 100,
    what: 'open questions of one call',
    beyond: 'a further question is recorded, but not asked',
    threat: 15,
  },
  pages: { value: 200, what: 'pages of a list', beyond: 'no more are read', threat: 15 },
  mcpTools: { value: 20_000, what: 'tools of an MCP server', beyond: 'no more are read', threat: 15 },
  mcpRounds: { value: 20, what: 'requests for input in one MCP call', beyond: 'the call fails', threat: 15 },
  agentAnswerChars: {
    value: 128 * KIB,
    what: 'structured answer of `mcp-server`',
    beyond: 'long texts and lists in it are cut, and the text says so',
    threat: 15,
  },
  agentProgress: {
    value: 1_000,
    what: 'progress notifications of one call of `mcp-server`',
    beyond: 'no more are sent',
    threat: 15,
  },
  outputChars: {
    value: 64 * MIB,
    what: 'output that is not read, or cannot be written to disk',
    beyond: 'the source waits, else the output is dropped, and counted',
    threat: 30,
  },
  startLineChars: {
    value: 64 * KIB,
    what: 'line of a server that starts',
    beyond: 'the rest of it is ignored',
    threat: 30,
  },
  driverLineBytes: { value: 8 * MIB, what: 'line of a driver', beyond: 'the driver fails', threat: 30 },
  driverBytes: {
    value: 64 * MIB,
    what: 'output of a driver in one scenario',
    beyond: 'the driver fails',
    threat: 30,
  },
  driverLines: {
    value: 10_000,
    what: 'lines of a driver in one scenario',
    beyond: 'the driver fails',
    threat: 30,
  },
  runtimeLogBytes: {
    value: 16 * MIB,
    what: "part of a runtime's log in one scenario",
    beyond: 'only the beginning is read, with a warning',
    threat: 15,
  },
  scenarioRequests: {
    value: 1_000,
    what: 'requests, and observations, of a runtime in one scenario',
    beyond: 'the scenario ends',
    threat: 15,
  },
  checkedCallbacksOfCall: {
    value: 200,
    what: 'callbacks of one call that `check` judges',
    beyond: 'the others are accepted, but not judged, with a warning',
    threat: 15,
  },
  checkedCallbacks: {
    value: 5_000,
    what: 'callbacks of one run that `check` judges',
    beyond: 'the others are accepted, but not judged, with a warning',
    threat: 15,
  },
  checkedRefusals: {
    value: 1_000,
    what: 'refused posts that `check` judges',
    beyond: 'the others are not judged, with a warning',
    threat: 15,
  },
  checkedCallBytes: {
    value: 64 * MIB,
    what: 'callbacks of one call, and refused posts, that `check` judges',
    beyond: 'the others are not judged, with a warning',
    threat: 15,
  },
  checkedBytes: {
    value: 256 * MIB,
    what: 'callbacks of one run that `check` judges, and a recording',
    beyond: 'the others are not judged, with a warning; the recording is not read',
    threat: 15,
  },
  pasteChars: { value: 4 * MIB, what: 'text pasted into a screen', beyond: 'the rest is cut', threat: 15 },
  fileBytes: {
    value: 64 * MIB,
    what: 'saved message or transcript to show',
    beyond: 'it is not read',
    threat: 15,
  },
} satisfies Record<string, Limit>;
