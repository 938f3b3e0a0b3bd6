import type { Body } from '../events/events.js';
import { urlRedactor } from '../events/shareable.js';
import { urlWithoutQuery } from '../util/url.js';
import { isRecord } from '../util/values.js';
import type { UndeliveredCallback, UnmatchedCall } from './report.js';

/** Lengths of reported texts, in characters. */
const REPORTED = { id: 256, text: 4_096 };

/** What reports show of an invocation. `callbackUrl` contains a secret. */
interface Caller {
  readonly operation: string | null;
  readonly id: string | null;
  readonly group_id: string | null;
  readonly callbackUrl: string | null;
}

/** Size of an invocation that a finished call keeps, in bytes. */
const SMALL = 4_096;

/** One call: its invocation, what is planned for its callbacks, and which of them may be lost. */
export class CallRecord {
  /** Undefined until decided; null if no fixture answers. */
  fixture: string | null | undefined;
  /** When its latest accepted invocation came. */
  openedAt = 0;
  /** Whether the invocation was not accepted; it may come again. */
  isRefused = false;
  /** Its entry in the report, if no fixture answers; the reason may be known only with the error result. */
  #unmatched: { -readonly [Key in keyof UnmatchedCall]: UnmatchedCall[Key] } | undefined;
  #expectsResult = true;
  /** The number of planned copies of callbacks: one of each may be lost. */
  #copies = 0;
  /** The callback that is planned to be broken, and may be lost. */
  #brokenCallback: 'none' | 'next' | 'current' = 'none';
  /** The latest callback that was not accepted yet. */
  #sent: Body | undefined;
  #caller: Caller | undefined;

  constructor(
    readonly key: string | undefined,
    readonly thread: string | undefined,
    private invocation: Body | undefined,
  ) {}

  /** Frees the messages of a finished call. */
  finish(): void {
    this.#sent = undefined;
    if ((this.invocation?.size ?? 0) <= SMALL) return;
    this.#caller = this.#callerOf();
    this.invocation = undefined;
  }

  /** No fixture answers the call. Returns its entry in the report. */
  markUnmatched(why: Pick<UnmatchedCall, 'reason' | 'nearest'>): UnmatchedCall {
    const { operation, id, group_id } = this.#callerOf();
    this.fixture = null;
    this.#unmatched = { operation, id, group_id, ...why };
    return this.#unmatched;
  }

  /** Takes the reason of an unmatched call from its error: a result of RAP or MCP, or a JSON-RPC error. */
  explain(result: Body | undefined): void {
    const unmatched = this.#unmatched;
    if (!unmatched || !result || unmatched.reason !== undefined || unmatched.nearest) return;
    const fields = fieldsOf(result);
    const content = fields?.['content'];
    const [block] = Array.isArray(content) ? content : [];
    const text =
      textAt(fields, 'text', REPORTED.text) ??
      textAt(block, 'text', REPORTED.text) ??
      textAt(fields?.['error'], 'message', REPORTED.text);
    if (text !== null) unmatched.reason = text.replace(/^Error: /, '');
  }

  expectNoResult(): void {
    this.#expectsResult = false;
  }

  /** A callback is planned to be sent twice. */
  planCopy(): void {
    this.#copies++;
  }

  /** The next callback is planned to be broken, or not to be sent. */
  planBroken({ isSent }: { readonly isSent: boolean }): void {
    this.#brokenCallback = isSent ? 'next' : 'none';
  }

  sendsCallback(callback: Body | undefined, attempt: number): void {
    this.#sent = callback;
    if (attempt === 1) this.#brokenCallback = this.#brokenCallback === 'next' ? 'current' : 'none';
  }

  /** The callback was accepted. Returns whether it is the result. */
  deliversCallback(callback: Body): boolean {
    this.#sent = undefined;
    return isToolResult(callback);
  }

  /** The latest callback did not arrive. Returns its entry in the report; null if it may be lost. */
  losesCallback(why: string): UndeliveredCallback | null {
    if (!this.#expectsResult) return null;
    const lost = this.#mayLoseCallback() ? null : this.undelivered(why);
    this.#sent = undefined;
    return lost;
  }

  /** Whether the latest callback is planned to be broken, or one copy of it is left. */
  #mayLoseCallback(): boolean {
    if (this.#brokenCallback !== 'none') {
      this.#brokenCallback = 'none';
      return true;
    }
    if (this.#copies === 0) return false;
    this.#copies--;
    return true;
  }

  /** The report of the latest callback that was not accepted, or of the missing result. */
  undelivered(why: string): UndeliveredCallback {
    const { operation, id, callbackUrl } = this.#callerOf();
    const type = textAt(fieldsOf(this.#sent), 'type', REPORTED.id);
    const url = callbackUrl === null ? null : urlWithoutQuery(urlRedactor([callbackUrl]).text(callbackUrl));
    return { operation, id, url, ...(type !== null && { type }), why };
  }

  /** Read when a report needs it: most calls are in no report. */
  #callerOf(): Caller {
    this.#caller ??= callerIn(fieldsOf(this.invocation));
    return this.#caller;
  }
}

function callerIn(invocation: Record<string, unknown> | null): Caller {
  return {
    operation: textAt(invocation, 'operation', REPORTED.id),
    id: textAt(invocation, 'id', REPORTED.id),
    group_id: textAt(invocation, 'group_id', REPORTED.id),
    callbackUrl: textAt(invocation, 'callback_url', REPORTED.text),
  };
}

const BEGINNING = Buffer.from('{"type":"tool_result"');

const NAME = Buffer.from('tool_result');

/** Parses only messages that contain the name elsewhere than at the beginning. */
function isToolResult(callback: Body): boolean {
  const { bytes } = callback;
  if (BEGINNING.equals(bytes.subarray(0, BEGINNING.length))) return true;
  return (
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes(NAME) &&
    textAt(fieldsOf(callback), 'type', REPORTED.id) === 'tool_result'
  );
}

/** Uses JSON that is already cached, but does not add any: it would use memory that the limits of the list do not count. */
function fieldsOf(body: Body | undefined): Record<string, unknown> | null {
  const json = body?.peekJson();
  return json?.ok && isRecord(json.value) ? json.value : null;
}

/** A copy, cut to `max` characters: a slice would keep the whole text in memory. */
function textAt(fields: unknown, key: string, max: number): string | null {
  const value = isRecord(fields) && Object.hasOwn(fields, key) ? fields[key] : null;
  if (typeof value !== 'string') return null;
  return value.length <= max ? value : `${Buffer.from(value.slice(0, max)).toString()}…`;
}
