import type { IncomingHttpHeaders } from 'node:http';

/** How one callback is answered: see kit/answers.mjs. */
export type Answer =
  | number
  | { status: number; headers?: Record<string, string>; body?: string; afterMs?: number }
  | 'reset'
  | 'half'
  | 'hang'
  | 'drip'
  | 'endless';

export interface Callback {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  bytes: Buffer;
  raw: string;
  /** null for what is not JSON. */
  body: Record<string, unknown> | null;
  /** Arrival: ms since 1970, and ms since the invocation was sent. */
  at: number;
  ms: number;
  beforeAck: boolean;
  answered: Answer;
  /** The status in `answered`; null where none exists. */
  status: number | null;
}

export interface Invocation {
  operation: string;
  arguments: Record<string, unknown>;
  id: string;
  call_id?: string | null;
  callback_url: string;
  group_id: string;
  thread_ancestors?: string[] | null;
  user_id?: string | null;
}

export interface Fault {
  /** A row of the protocol's table, such as TOOL-ID. */
  id: string;
  why: string;
}

export interface HttpAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  ms: number;
  body: string;
  /** False when the body was still coming after half a second or 64 KiB. */
  ended: boolean;
}

export type Acknowledgement =
  | (HttpAnswer & { error?: undefined })
  | { status: null; ms: null; headers: IncomingHttpHeaders; body: ''; ended: true; error: string };

export interface PendingCall {
  readonly invocation: Invocation;
  readonly ack: Acknowledgement;
  /** Every attempt, in order of arrival. */
  readonly callbacks: Callback[];
  readonly selections: { selected: unknown; status: number; body: string }[];
  readonly faults: Fault[];
  verdict(): Fault[];
  waitFor(fits: string | ((callback: Callback) => boolean), withinMs?: number): Promise<Callback>;
  next(withinMs?: number): Promise<Callback>;
  result(withinMs?: number): Promise<Callback>;
}

export interface InvokeOptions {
  id?: string;
  /** Left out of the message unless given. */
  callId?: string | null;
  groupId?: string;
  userId?: string | null;
  ancestors?: string[] | null;
  /** Path and query of the callback URL; the same one for several calls is allowed. */
  callbackPath?: string;
  /** A callback URL that is not this runtime's. */
  callbackUrl?: string;
  headers?: Record<string, string>;
  /** Answers to the callbacks one after another, then 200; or what gives the answer to each (not `drip`). */
  answers?: readonly Answer[] | ((callback: Callback, count: number) => Answer | Promise<Answer>);
  /** More fields of the invocation, or other values; undefined leaves one out. */
  fields?: Record<string, unknown>;
  /** Sent instead of the invocation. */
  body?: string | Buffer;
  /** Posted to directly, without discovery. */
  endpoint?: string;
  ackWithinMs?: number;
}

export interface Toolset {
  name: string;
  endpoint: string;
  tools: { name: string; description: string; inputSchema: Record<string, unknown> }[];
  needsMigration?: boolean;
}

export interface ConsentVisit {
  page: HttpAnswer;
  request: { method: string; url: string; headers: Record<string, string>; body?: string };
  answer: HttpAnswer;
  /** The same form once more. */
  press(): Promise<HttpAnswer>;
}

export interface Runtime extends AsyncDisposable {
  readonly url: string;
  readonly calls: PendingCall[];
  readonly strays: Callback[];
  readonly faults: Fault[];
  verdict(): Fault[];
  discover(base: string): Promise<Toolset>;
  invoke(
    base: string,
    operation: string,
    args: Record<string, unknown>,
    options?: InvokeOptions,
  ): Promise<PendingCall>;
  closeThread(base: string, groupId: string): Promise<HttpAnswer>;
  cancel(base: string, groupId: string, id: string): Promise<HttpAnswer>;
  choose(call: PendingCall, selected: unknown): Promise<HttpAnswer>;
  migrate(base: string, sessionId: string, destinationUrl: string): Promise<HttpAnswer>;
  visitConsent(authUrl: string, decision: 'grant' | 'refuse'): Promise<ConsentVisit>;
  close(): void;
}

export function openRuntime(options?: { secrets?: readonly string[] }): Promise<Runtime>;

export interface Call {
  ack: { status: number; headers: IncomingHttpHeaders };
  callbacks: Callback[];
  invocation: Invocation;
}

export function invokeOnce(
  baseUrl: string,
  operation: string,
  args: Record<string, unknown>,
  options?: { callId?: string | null; limitMs?: number },
): Promise<Call>;
