/** Who must meet a requirement. */
export type Side = 'tool' | 'runtime';
/** RFC 2119 levels; `none` if the protocol leaves it open. */
export type Level = 'MUST' | 'SHOULD' | 'none';

/** The page that asks for a requirement, with the quoted text if the page has it. */
interface Source {
  readonly page: 'Tool Invocation' | 'Tool Result' | 'public specification';
  readonly words?: string;
}

export interface Requirement {
  readonly side: Side;
  readonly level: Level;
  /** A clause whose subject is the side. */
  readonly statement: string;
  /** How to fix a violation, in one line. */
  readonly advice: string;
  readonly source: Source;
}

const invocation = (words: string): Source => ({ page: 'Tool Invocation', words });
const result = (words: string): Source => ({ page: 'Tool Result', words });
const SPECIFICATION: Source = { page: 'public specification' };

const VALIDATION =
  'For any validation failure — malformed payload, unknown operation, invalid arguments — the tool SHOULD still return HTTP 200 to acknowledge receipt, then deliver the error asynchronously as a tool result with an error description.';

type Define = (level: Level, statement: string, advice: string, source?: Source) => Requirement;

const tool: Define = (level, statement, advice, source = SPECIFICATION) => ({
  side: 'tool',
  level,
  statement,
  advice,
  source,
});
const runtime: Define = (level, statement, advice, source = SPECIFICATION) => ({
  side: 'runtime',
  level,
  statement,
  advice,
  source,
});

/** What each side of the protocol must do. Messages, tests and checks refer to a requirement by its id. */
export const REQUIREMENTS = {
  'TOOL-ACK': tool(
    'MUST',
    'answers 200 at once, before it does the work',
    'Answer 200 first, then start the work: over 250 ms is a warning, over 1 s a failure.',
    invocation('The tool MUST return HTTP 200 immediately to acknowledge receipt.'),
  ),
  'TOOL-ASYNC': tool(
    'MUST',
    "delivers every outcome as a callback, never in the acknowledgement's body",
    'Answer with an empty body, and POST the outcome to callback_url as a tool_result.',
    invocation('MUST process the request asynchronously'),
  ),
  'TOOL-ALWAYS': tool(
    'MUST',
    'ends every invocation with a tool_result, also after oauth or user_choice',
    'Send a result from every code path of the handler, including exceptions and timeouts.',
    result('Every invocation MUST eventually produce either a tool_result or an oauth message.'),
  ),
  'TOOL-POST': tool(
    'MUST',
    'POSTs callbacks as application/json in UTF-8, valid against the schema of their type',
    'POST with Content-Type: application/json, and validate the body against the schema of its type first.',
    result('The tool MUST send a tool result as an HTTP POST with Content-Type: application/json.'),
  ),
  'TOOL-GROUP': tool(
    'MUST',
    "includes the invocation's group_id in every callback",
    'Copy group_id unchanged from the invocation into every callback.',
    invocation('MUST be included in all callback messages to route them to the correct conversation.'),
  ),
  'TOOL-ID': tool(
    'MUST',
    'sends id back unchanged',
    'Copy id from the invocation into the result; do not generate an id.',
    result('MUST match the id from the original invocation.'),
  ),
  'TOOL-CALLID': tool(
    'MUST',
    'sends a given call_id back unchanged',
    'Copy call_id from the invocation into the result; leave it out if the invocation has none.',
    invocation('If provided, MUST be echoed in the tool result.'),
  ),
  'TOOL-ONCE': tool(
    'MUST',
    'sends one tool_result per call; the same result again is a retry',
    'Remember which calls have a result; after that, send only the same bytes again.',
  ),
  'TOOL-ISOLATE': tool(
    'MUST',
    'never mixes ids, threads or callback URLs of concurrent calls',
    'Store id, group_id and callback_url per call, never in a variable that calls share.',
  ),
  'TOOL-OPAQUE': tool(
    'MUST',
    'uses the callback URL exactly as given',
    'POST to callback_url exactly as received: do not parse it, normalize it or append to it.',
  ),
  'TOOL-VALIDATE': tool(
    'MUST',
    'never executes an unknown operation, or arguments that do not match the inputSchema',
    'Look up the operation and validate the arguments against its inputSchema before you do anything else.',
    invocation(
      'Upon receiving an invocation, the tool MUST validate that the operation field references a supported operation.',
    ),
  ),
  'TOOL-UNKNOWN-OP': tool(
    'SHOULD',
    'answers an unknown operation with 200 and an error result',
    'Answer 200, then send a tool_result that starts with “Error: ” and lists the available operations.',
    invocation(VALIDATION),
  ),
  'TOOL-BAD-ARGS': tool(
    'SHOULD',
    'answers arguments that do not match the inputSchema with 200 and an error result',
    'Answer 200, then send a tool_result that starts with “Error: ” and names the invalid argument.',
    invocation(VALIDATION),
  ),
  'TOOL-MALFORMED': tool(
    'SHOULD',
    'survives a malformed payload: 200, and an error result if it has a callback URL',
    'Catch parse errors: answer 200, and send an error result if there is a callback_url.',
    invocation(VALIDATION),
  ),
  'TOOL-EXTRA': tool(
    'SHOULD',
    'ignores unknown extra fields in the invocation',
    'Read the fields that you know and ignore all others; do not use a strict schema for the invocation.',
  ),
  'TOOL-ERRPREFIX': tool(
    'SHOULD',
    'starts an error text with "Error: " and says how to fix the error',
    'Start an error text with “Error: ”, and say what the caller can do about it.',
    result(
      'While the protocol does not mandate error formatting, tools SHOULD prefix error messages with "Error: " to help the LLM distinguish errors from successful results.',
    ),
  ),
  'TOOL-SECRET': tool(
    'MUST',
    'puts no credential, token or internal identifier in a message',
    'Remove the credential from the message and replace it: it was sent to a conversation.',
    result(
      'Tools MUST NOT include sensitive data (credentials, tokens, internal identifiers) in results unless the operation explicitly requires it.',
    ),
  ),
  'TOOL-NOLEAK': tool(
    'SHOULD',
    'puts no stack trace, host path or other internal detail in an error text',
    'Send only the error message; log stacks and paths on your side.',
    result(
      'Tools SHOULD avoid exposing internal implementation details or stack traces in error messages, as these provide no value to the LLM and may leak sensitive information.',
    ),
  ),
  'TOOL-RETRY': tool(
    'SHOULD',
    'retries a callback after a 5xx or a lost connection, with growing pauses',
    'Retry a callback a few times after a 5xx or a lost connection, with growing pauses.',
  ),
  'TOOL-NORETRY': tool(
    'SHOULD',
    'does not retry a callback that was answered 4xx',
    'Stop retrying a callback after a 4xx, and log it: the runtime will never accept it.',
  ),
  'TOOL-FALLBACK': tool(
    'SHOULD',
    'ends display_as with a text segment of one short line',
    'Add { "type": "text", "content": "one short line" } as the last segment of display_as.',
    result(
      'Tools SHOULD include a "text" segment as the last element to provide a universal fallback for runtimes that only support plain text display.',
    ),
  ),
  'TOOL-DIFF': tool(
    'MUST',
    'gives a diff segment a path and a unified diff as its patch',
    'Give the segment { path, patch }, with a patch in the format of diff -u: ---, +++, @@.',
    result('A unified diff string (standard ---/+++/@@ format).'),
  ),
  'TOOL-IMAGE': tool(
    'SHOULD',
    'puts a describing text before an image in content, and a text segment after one in display_as',
    'Put a text that describes the image before it in content, and a text segment after it in display_as.',
  ),
  'TOOL-SUB': tool(
    'MUST',
    'sends subscription: true before events, tool_call_id in each event, and nothing after final or a cancel',
    'Send the result with subscription: true first, then events with its tool_call_id; stop at final or a cancel.',
  ),
  'TOOL-CHOICE': tool(
    'MUST',
    'offers choices with a valid default and a response_url that answers 200; sends a tool_result after the selection',
    'Answer response_url with 200, and send a tool_result for every possible selection.',
  ),
  'TOOL-OAUTH': tool(
    'MUST',
    'sends an https auth_url, no token or code in a message, and a tool_result after consent or refusal',
    'Keep tokens and codes on your side, and send a tool_result after both consent and refusal.',
  ),
  'TOOL-CANCEL': tool(
    'SHOULD',
    'always answers /cancel_tool_call with 200; never crashes on it',
    'Answer POST /cancel_tool_call with 200 for every id; never use an id as a path.',
  ),
  'TOOL-CLOSE': tool(
    'SHOULD',
    'always answers /close_thread with 200 and an empty body; never crashes on it',
    'Answer POST /close_thread with 200 and no body for every thread_id; not with 204 or 404.',
  ),
  'TOOL-DISCOVER': tool(
    'MUST',
    'serves a valid toolset at the discovery URL',
    'Serve the toolset as JSON at /.well-known/rap-toolset; validate it with protocol-cli toolset <url>.',
  ),
  'TOOL-NAMES': tool(
    'MUST',
    'has valid and unique tool names',
    'Give each tool a unique name of 1 to 128 characters from A–Z a–z 0–9 _ -.',
  ),
  'TOOL-MIGRATE': tool(
    'MUST',
    'serves /migrate if needsMigration is set, and answers 200 only on success',
    'Serve POST /migrate: 200 after the state has moved, else 4xx or 5xx; or remove needsMigration.',
  ),
  'TOOL-RATE': tool(
    'SHOULD',
    'limits the rate of invocations: 200 and an error result with the time to wait',
    'Answer invocations over the limit with 200, then send an “Error: ” result with the time to wait.',
    invocation('Tools SHOULD rate-limit invocations to prevent abuse'),
  ),
  'RT-OP': runtime(
    'MUST',
    'dispatches only operations of a loaded toolset',
    'Look up the operation in the loaded toolsets before you send an invocation.',
    invocation(
      'Before dispatching an invocation, the runtime MUST verify that the operation field matches a known tool definition from a loaded toolset.',
    ),
  ),
  'RT-ARGS': runtime(
    'SHOULD',
    'validates arguments against inputSchema before dispatch',
    'Validate arguments against inputSchema; give the model the errors instead of making the call.',
    invocation(
      "The runtime SHOULD validate the arguments object against the tool's inputSchema to catch malformed input before it reaches the tool.",
    ),
  ),
  'RT-ID': runtime(
    'MUST',
    "uses a fresh unique id per call, or the LLM's",
    'Generate a new id for each call, such as a UUID; reuse it only to retry the same call.',
    invocation(
      'The runtime MUST generate a unique id for the tool call (or use the one provided by the LLM)',
    ),
  ),
  'RT-FIELDS': runtime(
    'MUST',
    'POSTs JSON with a reachable callback_url, group_id, and thread_ancestors if the thread has ancestors',
    'POST operation, arguments, id, group_id and a callback_url that the tool can reach, as JSON.',
    invocation(
      'The runtime MUST send a tool invocation as an HTTP POST with Content-Type: application/json.',
    ),
  ),
  'RT-NON200': runtime(
    'SHOULD',
    'turns any acknowledgement other than 200 into a failed result with a description',
    'End the call with an error result that names the status; do not wait for a callback.',
    invocation(
      'Any other non-200 status indicates the tool could not accept the invocation, and the runtime SHOULD record the failure as a tool result with an error description, allowing the LLM to reason about it.',
    ),
  ),
  'RT-RETRY': runtime(
    'SHOULD',
    'retries an unreachable tool or a 5xx with exponential backoff',
    'Retry an invocation after a 5xx or a failed connection, with growing pauses.',
  ),
  'RT-NORETRY': runtime(
    'MUST',
    'never retries a 4xx',
    'End the call with an error result after the first 4xx.',
  ),
  'RT-VALIDATE': runtime(
    'MUST',
    'validates every callback against its schema; answers an invalid one with 4xx and ignores it',
    'Validate a callback before you use it, and answer an invalid one with 400.',
  ),
  'RT-MATCH': runtime(
    'MUST',
    'logs and discards a result that matches no pending call',
    'Compare group_id and id with the pending calls; answer 404 if none matches, and do not inform the model.',
    result('It MUST NOT inject unmatched results into any conversation.'),
  ),
  'RT-SANITIZE': runtime(
    'SHOULD',
    'validates text before it passes it to the model',
    'Check text for control characters and invisible characters before you pass it to the model.',
    result(
      'Runtimes SHOULD also validate the text content before passing it to the LLM — while the LLM is generally resilient to unexpected input, sanitization reduces the risk of prompt injection through tool results.',
    ),
  ),
  'RT-DUP': runtime(
    'SHOULD',
    'processes a duplicate delivery once and answers it with 200',
    'Remember which results were processed, and answer duplicates with 200.',
    result(
      'Runtimes SHOULD implement idempotent result processing to handle duplicate deliveries gracefully, since network retries may cause the same result to arrive more than once.',
    ),
  ),
  'RT-TEXT': runtime(
    'MUST',
    'gives the model text or content in full and unchanged, independent of display_as',
    'Give the model text or content unchanged; display_as is only for people.',
    result(
      "When display_as is present, the runtime MUST still pass the full text value to the LLM as the tool's response.",
    ),
  ),
  'RT-DISPLAY': runtime(
    'SHOULD',
    'shows the user the first supported display segment, else text',
    'Show the first segment of display_as that you support, else text.',
    result(
      'Runtimes SHOULD iterate the display_as array and render the first segment whose type they support.',
    ),
  ),
  'RT-PENDING': runtime(
    'MUST',
    'keeps the call pending during oauth and user_choice, and does not send it again',
    'Keep the call pending after oauth or user_choice, and wait: the tool continues without a new invocation.',
  ),
  'RT-OAUTH': runtime(
    'MUST',
    'shows the auth_url to the user, and never stores or logs it',
    'Show auth_url to the user, and remove its query from all logs and files.',
  ),
  'RT-CHOICE': runtime(
    'MUST',
    'POSTs the selection to response_url; a dismissed prompt sends default',
    'POST {id, selected} to response_url; selected counts from 0. If dismissed, send default.',
  ),
  'RT-SUB': runtime(
    'MUST',
    'tracks subscriptions per thread, discards events of unknown or canceled ones, stops at final',
    'Track subscriptions by thread and call, accept their events, and remove them at final or a cancel.',
  ),
  'RT-VIEW': runtime(
    'MUST',
    'keeps the latest view per thread and type; ignores unknown view types',
    'Answer every view_update with 200; keep the latest of each type, and ignore unknown types.',
  ),
  'RT-SERIAL': runtime(
    'MUST',
    'handles messages of one thread in order, and threads in parallel',
    'Queue the messages of a thread, and handle them one after another.',
  ),
  'RT-NOTIFY': runtime(
    'MUST',
    'sends notices with the right fields to all servers at once, without retries; their failures never block',
    'Send a notice to all servers at once, once each, and do not wait for them.',
  ),
  'RT-TOOLSET': runtime(
    'MUST',
    'rejects a toolset with any error; a name defined in two toolsets is available from neither',
    'Reject the whole toolset if any part is invalid, and reject names that two toolsets define.',
  ),
  'RT-AUDIT': runtime(
    'SHOULD',
    'logs invocations with operation, time and outcome',
    'Log each invocation with its operation, time and outcome.',
    invocation(
      'Runtimes SHOULD log tool invocations for audit purposes, including the operation name, timestamp, and outcome.',
    ),
  ),
  'RT-TIMEOUT': runtime(
    'none',
    'records a timeout result if it has a timeout of its own',
    'Record a result that says that the call timed out.',
    invocation('the protocol defines no timeout'),
  ),
} as const satisfies Readonly<Record<string, Requirement>>;

export type RequirementId = keyof typeof REQUIREMENTS;

/** A problem that does not stop the work; `id` names the requirement that it concerns. */
export interface Warning {
  readonly id?: RequirementId;
  readonly message: string;
}
