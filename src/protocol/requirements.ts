/** Who must hold a requirement. */
export type Side = 'tool' | 'runtime';
/** RFC 2119 levels; `none` where the protocol leaves it open. */
export type Level = 'MUST' | 'SHOULD' | 'none';

export interface Requirement {
  readonly side: Side;
  readonly level: Level;
  readonly statement: string;
}

const tool = (level: Level, statement: string): Requirement => ({ side: 'tool', level, statement });
const runtime = (level: Level, statement: string): Requirement => ({ side: 'runtime', level, statement });

/** What each side of the protocol has to do. Messages, tests and checks name a requirement by its id. */
export const REQUIREMENTS = {
  'TOOL-ACK': tool('MUST', 'answers 200 at once; the answer does not wait for the work'),
  'TOOL-ASYNC': tool('MUST', "delivers every outcome as a callback, never in the acknowledgement's body"),
  'TOOL-ALWAYS': tool(
    'MUST',
    'drops no invocation: each ends in a tool_result, or waits in oauth or user_choice and then ends in one',
  ),
  'TOOL-POST': tool(
    'MUST',
    'sends callbacks as POSTs of application/json in UTF-8, valid against the schema of their type',
  ),
  'TOOL-GROUP': tool('MUST', "carries the invocation's group_id in every callback"),
  'TOOL-ID': tool('MUST', 'sends id back unchanged'),
  'TOOL-CALLID': tool('MUST', 'sends a given call_id back unchanged'),
  'TOOL-ONCE': tool('MUST', 'sends one tool_result per call; a repeated delivery of the same one is a retry'),
  'TOOL-ISOLATE': tool('MUST', 'never mixes ids, threads or callback URLs of concurrent calls'),
  'TOOL-OPAQUE': tool('MUST', 'uses the callback URL exactly as given'),
  'TOOL-VALIDATE': tool(
    'MUST',
    'never executes an unknown operation, nor one whose arguments break its inputSchema',
  ),
  'TOOL-UNKNOWN-OP': tool('SHOULD', 'answers an unknown operation with 200 and an error result'),
  'TOOL-BAD-ARGS': tool('SHOULD', 'answers arguments that break inputSchema with 200 and an error result'),
  'TOOL-MALFORMED': tool(
    'SHOULD',
    'survives a malformed payload: 200, and an error result where a callback URL is known',
  ),
  'TOOL-EXTRA': tool('SHOULD', 'ignores unknown extra fields in the invocation'),
  'TOOL-ERRPREFIX': tool('SHOULD', 'starts an error text with "Error: " and says what can be done'),
  'TOOL-SECRET': tool('MUST', 'puts no credential, token or internal identifier in a message'),
  'TOOL-NOLEAK': tool('SHOULD', 'puts no stack trace, host path or other internal detail in an error text'),
  'TOOL-RETRY': tool('SHOULD', 'retries a callback that was answered 5xx or lost, with growing pauses'),
  'TOOL-NORETRY': tool('SHOULD', 'does not retry a callback that was answered 4xx'),
  'TOOL-FALLBACK': tool('SHOULD', 'ends display_as with a text segment of one short line'),
  'TOOL-DIFF': tool('MUST', 'gives a diff segment a path and a patch that is a unified diff'),
  'TOOL-IMAGE': tool(
    'SHOULD',
    'leads an image result with a describing text, follows an image segment with a text one',
  ),
  'TOOL-SUB': tool(
    'MUST',
    'says subscription: true before events, which carry tool_call_id; sends nothing after final or a cancel',
  ),
  'TOOL-CHOICE': tool(
    'MUST',
    'offers choices with a default in range and a response_url that answers 200; the selection leads to a tool_result',
  ),
  'TOOL-OAUTH': tool(
    'MUST',
    'sends an https auth_url, no token or code in a message, and a tool_result after consent or refusal',
  ),
  'TOOL-CANCEL': tool('SHOULD', 'answers /cancel_tool_call with 200 always; never crashes on it'),
  'TOOL-CLOSE': tool(
    'SHOULD',
    'answers /close_thread with 200 always, with an empty body; never crashes on it',
  ),
  'TOOL-DISCOVER': tool('MUST', 'serves a valid toolset at the discovery URL'),
  'TOOL-NAMES': tool('MUST', 'has valid and unique tool names'),
  'TOOL-MIGRATE': tool('MUST', 'with needsMigration serves /migrate, which answers 200 only on success'),
  'TOOL-RATE': tool(
    'SHOULD',
    'limits the rate of invocations: 200 and an error result with the time to wait',
  ),
  'RT-OP': runtime('MUST', 'dispatches only operations of a loaded toolset'),
  'RT-ARGS': runtime('SHOULD', 'validates arguments against inputSchema before dispatch'),
  'RT-ID': runtime('MUST', "uses a fresh unique id per call, or the LLM's"),
  'RT-FIELDS': runtime(
    'MUST',
    'POSTs JSON with a reachable callback_url, group_id, and thread_ancestors where there are ancestors',
  ),
  'RT-NON200': runtime(
    'SHOULD',
    'makes any acknowledgement other than 200 a failed result with a description',
  ),
  'RT-RETRY': runtime('SHOULD', 'retries an unreachable tool or a 5xx with exponential backoff'),
  'RT-NORETRY': runtime('MUST', 'never retries a 4xx'),
  'RT-VALIDATE': runtime(
    'MUST',
    'validates every callback against its schema; a bad one is answered 4xx and does nothing',
  ),
  'RT-MATCH': runtime('MUST', 'logs and discards a result that matches no pending call'),
  'RT-SANITIZE': runtime('SHOULD', 'validates text before it goes to the model'),
  'RT-DUP': runtime('SHOULD', 'processes a duplicate delivery once and answers it 200'),
  'RT-TEXT': runtime(
    'MUST',
    'gives the model text or content in full and unchanged, whatever display_as says',
  ),
  'RT-DISPLAY': runtime('SHOULD', 'shows the human the first supported display segment, else text'),
  'RT-PENDING': runtime(
    'MUST',
    'keeps the call pending during oauth and user_choice, and does not send it again',
  ),
  'RT-OAUTH': runtime('MUST', 'puts the auth_url before the user, and stores or logs it nowhere'),
  'RT-CHOICE': runtime('MUST', 'POSTs the selection to response_url; a dismissed prompt sends default'),
  'RT-SUB': runtime(
    'MUST',
    'tracks subscriptions per thread, discards events of unknown or cancelled ones, ends tracking at final',
  ),
  'RT-VIEW': runtime('MUST', 'keeps the latest view per thread and type; ignores unknown view types'),
  'RT-SERIAL': runtime('MUST', 'handles messages of one thread one after another, threads side by side'),
  'RT-NOTIFY': runtime(
    'MUST',
    'sends notices with the right fields to every server at once, single shot; their failures never block',
  ),
  'RT-TOOLSET': runtime(
    'MUST',
    'validates a toolset whole; a name defined twice across toolsets is available from neither',
  ),
  'RT-AUDIT': runtime('SHOULD', 'logs invocations: operation, time, outcome'),
  'RT-TIMEOUT': runtime('none', 'records a result that says so where it has a timeout of its own'),
} as const satisfies Readonly<Record<string, Requirement>>;

export type RequirementId = keyof typeof REQUIREMENTS;

/** Something worth telling that does not stop the work; `id` names the requirement it is about. */
export interface Warning {
  readonly id?: RequirementId;
  readonly message: string;
}

/** For each requirement what to do where it is broken: one line, to whoever writes that side. */
export const ADVICE: Readonly<Record<RequirementId, string>> = {
  'TOOL-ACK':
    'Answer 200 before the work begins, and start the work after the answer: over 250 ms is a warning, over 1 s a failure.',
  'TOOL-ASYNC': 'Answer with an empty body, and POST the outcome to callback_url as a tool_result.',
  'TOOL-ALWAYS':
    'Put every way out of the handler, exceptions and timeouts too, on a path that POSTs a result.',
  'TOOL-POST':
    'POST with Content-Type: application/json, and hold the body against the schema of its type first.',
  'TOOL-GROUP': 'Copy group_id from the invocation into every callback, whatever it looks like.',
  'TOOL-ID': 'Copy id from the invocation into the result as the string it is; make no id of your own.',
  'TOOL-CALLID':
    'Copy call_id into the result where the invocation has one, and leave it out where it has none.',
  'TOOL-ONCE': 'Remember which calls have their result; send the same bytes again, or nothing.',
  'TOOL-ISOLATE': 'Keep id, group_id and callback_url with each call, never in a variable that calls share.',
  'TOOL-OPAQUE':
    'POST to callback_url as it came: neither parse it, nor normalise it, nor join anything to it.',
  'TOOL-VALIDATE':
    'Look up the operation and validate arguments against its inputSchema before anything is done.',
  'TOOL-UNKNOWN-OP': 'Answer 200, and send a tool_result that says “Error: ” and which operations there are.',
  'TOOL-BAD-ARGS': 'Answer 200, and send a tool_result that says “Error: ” and which argument is wrong.',
  'TOOL-MALFORMED':
    'Catch what parsing throws: answer 200, and send an error result where there is a callback_url.',
  'TOOL-EXTRA':
    'Read the fields that you know, and pass over all others: no strict schema for the invocation.',
  'TOOL-ERRPREFIX': 'Begin the text of a failure with “Error: ”, and say what the caller can do about it.',
  'TOOL-SECRET': 'Take it out of what is sent, and replace the credential: it was told to a conversation.',
  'TOOL-NOLEAK': 'Send the message of an error alone; log its stack and its paths on your side.',
  'TOOL-RETRY': 'Send a callback again after a 5xx or a lost connection: a few times, with growing pauses.',
  'TOOL-NORETRY': 'Give a callback up once it is answered 4xx, and log it: it will never be accepted.',
  'TOOL-FALLBACK': 'Add { "type": "text", "content": "one short line" } as the last segment of display_as.',
  'TOOL-DIFF': 'Give the segment { path, patch }, with a patch as diff -u writes it: ---, +++, @@.',
  'TOOL-IMAGE': 'Put a text that describes the image before it in content, and after it in display_as.',
  'TOOL-SUB':
    'Send the result with subscription: true first, then events with its tool_call_id; stop at final or a cancel.',
  'TOOL-CHOICE': 'Answer response_url with 200, and send a tool_result for whatever was selected.',
  'TOOL-OAUTH': 'Keep tokens and codes on your side, and send a tool_result after consent and after refusal.',
  'TOOL-CANCEL':
    'Answer POST /cancel_tool_call with 200 whatever the ids are; look them up, never as a path.',
  'TOOL-CLOSE': 'Answer POST /close_thread with 200 and no body, whatever thread_id is; neither 204 nor 404.',
  'TOOL-DISCOVER':
    'Serve the toolset as JSON at /.well-known/rap-toolset; protocol-cli toolset <url> reads it.',
  'TOOL-NAMES': 'Name each tool once, with 1 to 128 of A–Z a–z 0–9 _ -.',
  'TOOL-MIGRATE':
    'Serve POST /migrate: 200 once the state has moved, else 4xx or 5xx; or drop needsMigration.',
  'TOOL-RATE': 'Answer what is over the limit with 200, and an “Error: ” result with the time to wait.',
  'RT-OP': 'Look the operation up in the toolsets that were loaded, before an invocation is sent.',
  'RT-ARGS': 'Validate arguments against inputSchema, and give the model the faults instead of a call.',
  'RT-ID': 'Make a new id for each call, a UUID; send the same one again only for a retry of the same call.',
  'RT-FIELDS':
    'Send operation, arguments, id, group_id and a callback_url that the tool can connect to, as JSON by POST.',
  'RT-NON200': 'End the call with an error result that names the status; wait for no callback.',
  'RT-RETRY': 'Send an invocation again after a 5xx or a failed connection, with growing pauses.',
  'RT-NORETRY': 'End the call at the first 4xx with an error result.',
  'RT-VALIDATE':
    'Validate a callback before anything else is done with it, and answer 400 where it is wrong.',
  'RT-MATCH':
    'Match group_id and id against what is pending; answer 404 where nothing is, and tell the model nothing.',
  'RT-SANITIZE': 'Look for control and invisible characters in text before the model gets it.',
  'RT-DUP': 'Remember which results were taken, and answer 200 to one that comes again.',
  'RT-TEXT': 'Give the model text, or content, as it came; display_as is for people alone.',
  'RT-DISPLAY': 'Walk display_as from its beginning, draw the first segment that you can, else text.',
  'RT-PENDING': 'Leave the call pending at an oauth or a user_choice, and wait: the tool goes on by itself.',
  'RT-OAUTH': 'Show auth_url to the user, and leave its query out of every log and every file.',
  'RT-CHOICE':
    'POST {id, selected} to response_url, selected counted from 0; default where it was dismissed.',
  'RT-SUB':
    'Track subscriptions by thread and call, take their events, and forget them at final or a cancel.',
  'RT-VIEW': 'Answer every view_update 200; keep the latest of each type, and pass over unknown types.',
  'RT-SERIAL': 'Queue the messages of a thread, and handle them one after another.',
  'RT-NOTIFY': 'Send a notice to each server once, at once, and wait for none of them.',
  'RT-TOOLSET':
    'Refuse a toolset as a whole where a part of it is wrong, and a name that two toolsets define.',
  'RT-AUDIT': 'Log each invocation with its operation, time and outcome.',
  'RT-TIMEOUT': 'Record a result that says that the time is over.',
};

/** A page of the protocol. */
type Page = 'Tool Invocation' | 'Tool Result' | 'public specification';

/** Where a requirement is from. */
interface Source {
  readonly page: Page;
  /** The page's own words, as they stand there. */
  readonly words?: string;
}

const invocation = (words: string): Source => ({ page: 'Tool Invocation', words });
const result = (words: string): Source => ({ page: 'Tool Result', words });
const elsewhere: Source = { page: 'public specification' };

const VALIDATION =
  'For any validation failure — malformed payload, unknown operation, invalid arguments — the tool SHOULD still return HTTP 200 to acknowledge receipt, then deliver the error asynchronously as a tool result with an error description.';

/** For each requirement the page that asks for it. What the pages on invocations and results do not say is from the rest of the specification. */
export const SOURCES: Readonly<Record<RequirementId, Source>> = {
  'TOOL-ACK': invocation('The tool MUST return HTTP 200 immediately to acknowledge receipt.'),
  'TOOL-ASYNC': invocation('MUST process the request asynchronously'),
  'TOOL-ALWAYS': result('Every invocation MUST eventually produce either a tool_result or an oauth message.'),
  'TOOL-POST': result(
    'The tool MUST send a tool result as an HTTP POST with Content-Type: application/json.',
  ),
  'TOOL-GROUP': invocation(
    'MUST be included in all callback messages to route them to the correct conversation.',
  ),
  'TOOL-ID': result('MUST match the id from the original invocation.'),
  'TOOL-CALLID': invocation('If provided, MUST be echoed in the tool result.'),
  'TOOL-ONCE': elsewhere,
  'TOOL-ISOLATE': elsewhere,
  'TOOL-OPAQUE': elsewhere,
  'TOOL-VALIDATE': invocation(
    'Upon receiving an invocation, the tool MUST validate that the operation field references a supported operation.',
  ),
  'TOOL-UNKNOWN-OP': invocation(VALIDATION),
  'TOOL-BAD-ARGS': invocation(VALIDATION),
  'TOOL-MALFORMED': invocation(VALIDATION),
  'TOOL-EXTRA': elsewhere,
  'TOOL-ERRPREFIX': result(
    'While the protocol does not mandate error formatting, tools SHOULD prefix error messages with "Error: " to help the LLM distinguish errors from successful results.',
  ),
  'TOOL-SECRET': result(
    'Tools MUST NOT include sensitive data (credentials, tokens, internal identifiers) in results unless the operation explicitly requires it.',
  ),
  'TOOL-NOLEAK': result(
    'Tools SHOULD avoid exposing internal implementation details or stack traces in error messages, as these provide no value to the LLM and may leak sensitive information.',
  ),
  'TOOL-RETRY': elsewhere,
  'TOOL-NORETRY': elsewhere,
  'TOOL-FALLBACK': result(
    'Tools SHOULD include a "text" segment as the last element to provide a universal fallback for runtimes that only support plain text display.',
  ),
  'TOOL-DIFF': result('A unified diff string (standard ---/+++/@@ format).'),
  'TOOL-IMAGE': elsewhere,
  'TOOL-SUB': elsewhere,
  'TOOL-CHOICE': elsewhere,
  'TOOL-OAUTH': elsewhere,
  'TOOL-CANCEL': elsewhere,
  'TOOL-CLOSE': elsewhere,
  'TOOL-DISCOVER': elsewhere,
  'TOOL-NAMES': elsewhere,
  'TOOL-MIGRATE': elsewhere,
  'TOOL-RATE': invocation('Tools SHOULD rate-limit invocations to prevent abuse'),
  'RT-OP': invocation(
    'Before dispatching an invocation, the runtime MUST verify that the operation field matches a known tool definition from a loaded toolset.',
  ),
  'RT-ARGS': invocation(
    "The runtime SHOULD validate the arguments object against the tool's inputSchema to catch malformed input before it reaches the tool.",
  ),
  'RT-ID': invocation(
    'The runtime MUST generate a unique id for the tool call (or use the one provided by the LLM)',
  ),
  'RT-FIELDS': invocation(
    'The runtime MUST send a tool invocation as an HTTP POST with Content-Type: application/json.',
  ),
  'RT-NON200': invocation(
    'Any other non-200 status indicates the tool could not accept the invocation, and the runtime SHOULD record the failure as a tool result with an error description, allowing the LLM to reason about it.',
  ),
  'RT-RETRY': elsewhere,
  'RT-NORETRY': elsewhere,
  'RT-VALIDATE': elsewhere,
  'RT-MATCH': result('It MUST NOT inject unmatched results into any conversation.'),
  'RT-SANITIZE': result(
    'Runtimes SHOULD also validate the text content before passing it to the LLM — while the LLM is generally resilient to unexpected input, sanitization reduces the risk of prompt injection through tool results.',
  ),
  'RT-DUP': result(
    'Runtimes SHOULD implement idempotent result processing to handle duplicate deliveries gracefully, since network retries may cause the same result to arrive more than once.',
  ),
  'RT-TEXT': result(
    "When display_as is present, the runtime MUST still pass the full text value to the LLM as the tool's response.",
  ),
  'RT-DISPLAY': result(
    'Runtimes SHOULD iterate the display_as array and render the first segment whose type they support.',
  ),
  'RT-PENDING': elsewhere,
  'RT-OAUTH': elsewhere,
  'RT-CHOICE': elsewhere,
  'RT-SUB': elsewhere,
  'RT-VIEW': elsewhere,
  'RT-SERIAL': elsewhere,
  'RT-NOTIFY': elsewhere,
  'RT-TOOLSET': elsewhere,
  'RT-AUDIT': invocation(
    'Runtimes SHOULD log tool invocations for audit purposes, including the operation name, timestamp, and outcome.',
  ),
  'RT-TIMEOUT': invocation('the protocol defines no timeout'),
};
