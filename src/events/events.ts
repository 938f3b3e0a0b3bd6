import type { JsonReading } from '../util/json.js';

/** The body of a message: its bytes, and what they say. Values are computed when they are first read. */
export interface Body {
  /** In bytes. */
  readonly size: number;
  /** @throws Error if they were not kept, to save memory */
  readonly bytes: Uint8Array;
  /** Null if the body is not UTF-8. */
  readonly text: string | null;
  /** The digest of the bytes, in hex. */
  readonly sha256: string;
  readonly json: JsonReading;
  /** The `type` of a message; null if the body is not a message. */
  readonly messageType: string | null;
  /** As `json`, but does not keep the value, to save memory. */
  peekJson(): JsonReading;
}

/** Who sends or receives a message: `platform` and `client` are the sides of an agent session or of MCP. */
export type Party = 'runtime' | 'tool' | 'platform' | 'client' | 'unknown';

/**
 * What a request is for. `session` creates, reads, lists, pauses, resumes or deletes an agent session; `changes` gets its new events, at
 * once or as a long poll; `webhook` is a delivery to a receiver.
 */
export type Purpose =
  | 'discovery'
  | 'invocation'
  | 'callback'
  | 'choice'
  | 'consent'
  | 'cancel'
  | 'close'
  | 'migrate'
  | 'session'
  | 'changes'
  | 'message'
  | 'tool_results'
  | 'webhook';

/** The position of a message in the reply to its call, from 0. A message without a turn is the only one. */
export interface Turn {
  readonly index: number;
}

/** The fixture that comes nearest to a call: its id, the path of the first difference, and what differs there. */
export interface NearestFixture {
  readonly fixture: string;
  readonly path: string;
  readonly reason: string;
}

/** A call that an agent session waits for. */
export interface PendingCall {
  /** Identifies the call in every event: its id, or a generated key if the id is null. */
  readonly key: string;
  readonly tool_name: string;
  readonly args?: unknown;
  readonly id: string | null;
}

/** Whose view an answer in an agent session is. */
export type Answerer = 'platform' | 'client';

/** What planned a deviation. */
export type Planner = 'fixture' | 'fault' | 'probe' | 'scenario';

/** Members of every event. */
export interface EventBase {
  /** Its position, from 0. */
  readonly seq: number;
  /** Monotonic milliseconds since the start. */
  readonly at: number;
  /** For how much of `at` a check could not run, in ms: it does not count as slowness of its peer. Default: 0. */
  readonly stalled?: number | undefined;
  /** Keys of the calls concerned; a callback belongs to the call whose callback URL it used. */
  readonly calls?: string[] | undefined;
  /** The thread (`group_id`) concerned, if known. */
  readonly thread?: string | undefined;
}

/** A request was sent or received. */
export interface RequestEvent extends EventBase {
  readonly kind: 'request';
  /** Connects a request with its response or failure. */
  readonly leg: string;
  readonly from: Party;
  readonly to: Party;
  readonly purpose: Purpose;
  /** The protocol of the message; default: RAP. */
  readonly dialect?: 'session' | 'mcp' | undefined;
  /** The side of a recorder, which sees each message twice. Without it, the message went directly to its receiver. */
  readonly hop?: 'runtime-side' | 'tool-side' | undefined;
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body?: Body | undefined;
  /** From 1. */
  readonly attempt: number;
  readonly turn?: Turn | undefined;
}

/** A request was answered. */
export interface ResponseEvent extends EventBase {
  readonly kind: 'response';
  readonly leg: string;
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body?: Body | undefined;
  /** Why a listener refused the request before reading its body: a foreign Host, a browser, too large … */
  readonly refusal?: string | undefined;
}

/** A request got no response, or not all of it. */
export interface BrokenEvent extends EventBase {
  readonly kind: 'broken';
  readonly leg: string;
  /** What was in progress: `connect`, `response` … */
  readonly phase: string;
  /** The code of the error: `ECONNREFUSED` … */
  readonly code: string;
}

/** An invocation was sent by another program whose callbacks this listener receives. */
export interface ExpectedEvent extends EventBase {
  readonly kind: 'expected';
  readonly body?: Body | undefined;
}

/** A pending call of an agent session got its answer (`tool_result` or `error_event`): the platform took it, or the client has it. */
export interface AnsweredEvent extends EventBase {
  readonly kind: 'answered';
  readonly by: Answerer;
  readonly body?: Body | undefined;
  /** How the answer differs from the platform's script. */
  readonly unexpected?: string[] | undefined;
}

/** A line of the driver protocol: an instruction of a check, or what the driver of a runtime said. */
export interface DriverEvent extends EventBase {
  readonly kind: 'driver';
  readonly from: 'check' | 'runtime';
  readonly body?: Body | undefined;
  /** How the driver ended, if it ended before it was asked to: `ended with status 1`. */
  readonly ended?: string | undefined;
}

/** An invocation was not sent, since it is not allowed. */
export interface DeniedEvent extends EventBase {
  readonly kind: 'denied';
  readonly dialect?: 'session' | 'mcp' | undefined;
  readonly by: 'person' | 'policy';
  readonly tool: string;
  readonly reason: string;
  readonly body?: Body | undefined;
}

/** A toolset was loaded from discovery: from now on only its operations may be called (RT-OP). */
export interface LoadedEvent extends EventBase {
  readonly kind: 'loaded';
  readonly base: string | null;
  readonly endpoint: string;
  readonly toolset: string;
  readonly operations: string[];
  /** In old transcripts: the display scripts of its tools by name. */
  readonly displayScripts?: Record<string, string> | undefined;
}

/** A person, an option or a rule decided something. */
export interface DecidedEvent extends EventBase {
  readonly kind: 'decided';
  readonly what: 'choice' | 'consent' | 'cancel' | 'give-up';
  readonly by: 'person' | 'flag' | 'policy';
  readonly value?: string | number | undefined;
  /** The leg of the question that a choice or a consent answers; default: the oldest open question of that type. */
  readonly question?: string | undefined;
}

/** Something did not happen within a time; `observation`: what a check waited for. */
export interface ExpiredEvent extends EventBase {
  readonly kind: 'expired';
  readonly what: 'timeout' | 'linger' | 'answer' | 'observation';
  readonly afterMs: number;
}

/** A fixture answers a call, or no fixture does. */
export interface MatchedEvent extends EventBase {
  readonly kind: 'matched';
  /** Its id; null if none answers. */
  readonly fixture: string | null;
  readonly key?: string | undefined;
  /** The number of the call for this key. */
  readonly count?: number | undefined;
  readonly state?: { key: string; to: string } | undefined;
  readonly nearest?: NearestFixture | undefined;
}

/** Middleware changed a reply, or would have changed a reply that was sent verbatim. */
export interface ShapedEvent extends EventBase {
  readonly kind: 'shaped';
  readonly by: 'middleware' | 'verbatim';
  readonly changes: { path: string; change: 'redacted' | 'sanitized' }[];
}

/** A deviation from correct behavior was planned; `demand`: the next event waits for a manual trigger. */
export interface PlannedEvent extends EventBase {
  readonly kind: 'planned';
  readonly by: Planner;
  readonly plan: string;
  /** Ids of the requirements that a probe or a scenario tests. */
  readonly checks?: string[] | undefined;
  /** For a scenario that was not run: what it needs and the driver of the runtime does not support. */
  readonly unsupported?: string[] | undefined;
  /** For a call of a probe: the index of its case. */
  readonly case?: number | undefined;
  /** For a call of a probe: repeated with nothing else in progress. */
  readonly again?: true | undefined;
  /** For a call or a probe that is repeated on a new server, after the first one exited. */
  readonly newServer?: true | undefined;
  /** The fixture with this plan, if the call has no `matched` event: a refused acknowledgement. */
  readonly fixture?: string | undefined;
  /** The `type` and turn of the callback concerned. */
  readonly type?: string | undefined;
  readonly turn?: Turn | undefined;
}

/** Something is wrong that does not stop the program. */
export interface WarnedEvent extends EventBase {
  readonly kind: 'warned';
  readonly message: string;
}

/** A server that this program started has ended, and was not stopped. `calls` are those without an end yet. */
export interface ExitedEvent extends EventBase {
  readonly kind: 'exited';
  /** `exited with status 1` */
  readonly how: string;
  /** How it ended, and during which operation or after which message: `the server exited with status 1 during …`. */
  readonly message: string;
  /** The last lines that it wrote to stderr. */
  readonly output: string[];
}

/** The new status of an agent session, as the platform set it or the client saw it. `thread` is the id of the session. */
export interface SessionEvent extends EventBase {
  readonly kind: 'session';
  readonly status: string;
  readonly error?: string | undefined;
  /** The agent's final answer, as JSON. */
  readonly answer?: unknown;
}

/** The calls that an agent session waits for; the latest list counts (seed 001). */
export interface AwaitingEvent extends EventBase {
  readonly kind: 'awaiting';
  readonly round?: number | undefined;
  readonly pending: PendingCall[];
}

/** A planned message will not be sent, or events are missing. */
export interface DroppedEvent extends EventBase {
  readonly kind: 'dropped';
  readonly what: 'callback' | 'event' | 'invocation';
  readonly why: string;
  readonly count: number;
  /** The last attempt, if there was one. */
  readonly leg?: string | undefined;
  /** The message's `type` and turn, if there was no attempt. */
  readonly type?: string | undefined;
  readonly turn?: Turn | undefined;
}

/**
 * One fact with its time. Everything that happens is an event: in a live run, in a saved transcript and in a recording.
 * @example
 * const onEvent = (event: Event) => {
 *   if (event.kind === 'request') console.log(event.at, event.method, event.url);
 * };
 */
export type Event =
  | RequestEvent
  | ResponseEvent
  | BrokenEvent
  | ExpectedEvent
  | AnsweredEvent
  | DriverEvent
  | DeniedEvent
  | LoadedEvent
  | DecidedEvent
  | ExpiredEvent
  | MatchedEvent
  | ShapedEvent
  | PlannedEvent
  | WarnedEvent
  | ExitedEvent
  | SessionEvent
  | AwaitingEvent
  | DroppedEvent;

export type EventKind = Event['kind'];

type Unstamped<E> = E extends Event ? Omit<E, 'seq' | 'at'> : never;

/** An event without its position and time. */
export type Fact = Unstamped<Event>;

/** Whether the response to an invocation is the result, as in MCP. A RAP runtime gets callbacks instead. */
export function isDirect({ from }: Pick<RequestEvent, 'from'>): boolean {
  return from === 'client';
}

export type EventOf<Kind extends EventKind> = Extract<Event, { kind: Kind }>;

/** The end of a request. */
export type EndEvent = EventOf<'response' | 'broken'>;

/** Marks a kind that a fold ignores, so that a new kind does not compile until each fold handles or ignores it. */
export function ignored<Kind extends EventKind>(_event: EventOf<Kind>): void {}
