import type { Body } from '../events/events.js';
import { urlRedactor } from '../events/shareable.js';
import { urlWithoutQuery } from '../util/url.js';
import { isRecord } from '../util/values.js';
import { ExpectedCallbacks } from './expected-callbacks.js';
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

/** One call: who made it, which fixture answers it, and what a report says about it. */
export class CallRecord {
  readonly callbacks = new ExpectedCallbacks();
  readonly #caller: Caller;
  #fixture: string | null | undefined;
  #openedAt = 0;
  #isRefused = false;
  /** Its entry in the report, if no fixture answers. The report has the same object, since the reason may come later. */
  #unmatched: { -readonly [Key in keyof UnmatchedCall]: UnmatchedCall[Key] } | undefined;

  constructor(
    readonly key: string | undefined,
    readonly thread: string | undefined,
    invocation: Body | undefined,
  ) {
    this.#caller = callerIn(fieldsOf(invocation));
  }

  /** The fixture that answers; undefined until that is decided; null if none does. */
  get fixture(): string | null | undefined {
    return this.#fixture;
  }

  /** When its latest invocation came. */
  get openedAt(): number {
    return this.#openedAt;
  }

  /** Whether the invocation was not accepted; it may come again. */
  get isRefused(): boolean {
    return this.#isRefused;
  }

  open(at: number): void {
    this.#openedAt = at;
    this.#isRefused = false;
  }

  refuse(): void {
    this.#isRefused = true;
  }

  /** Has no effect once it is decided which fixture answers. */
  match(fixture: string | null): void {
    if (this.#fixture === undefined) this.#fixture = fixture;
  }

  /** No fixture answers the call. Returns its entry in the report. */
  markUnmatched(why: Pick<UnmatchedCall, 'reason' | 'nearest'>): UnmatchedCall {
    const { operation, id, group_id } = this.#caller;
    this.#fixture = null;
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

  /** The report of the latest callback that was not accepted, or of the missing result. */
  undelivered(why: string): UndeliveredCallback {
    const { operation, id, callbackUrl } = this.#caller;
    const type = this.callbacks.latestType;
    const url = callbackUrl === null ? null : urlWithoutQuery(urlRedactor([callbackUrl]).text(callbackUrl));
    return { operation, id, url, ...(type !== null && { type }), why };
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

/**
 * How the mock's results begin, which are therefore not parsed here: with parsing, a mock takes 385 ms instead of 290 ms of CPU time for
 * a result of 50 MB, and up to 625 MB of memory instead of 484 MB.
 */
const RESULT = Buffer.from('{"type":"tool_result"');

/** The type of a callback; null without one. */
export function typeOf(callback: Body | undefined): string | null {
  if (callback && RESULT.equals(callback.bytes.subarray(0, RESULT.length))) return 'tool_result';
  return textAt(fieldsOf(callback), 'type', REPORTED.id);
}

/** The value is not kept with the body, which an event holds: limits count only its bytes. */
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
