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
