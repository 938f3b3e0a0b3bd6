import {
  type Body,
  type Event,
  type EventOf,
  ignored,
  isDirect,
  type NearestFixture,
  type RequestEvent,
} from '../events/events.js';
import { effectOf } from '../events/faults.js';
import { urlRedactor } from '../events/shareable.js';
import { readInvocation } from '../protocol/invocation.js';
import { type Findings, FindingsCollector, RecentMap } from '../util/collections.js';
import { LIMITS } from '../util/limits.js';
import { elapsedMs, truncateBeforeToken } from '../util/text.js';
import { urlWithoutQuery } from '../util/url.js';
import { compactJson, isRecord } from '../util/values.js';

/** The verdict on a whole run of a mock: whether everything happened that the test expected. */
export interface VerificationReport {
  /** True if every fixture is `used` or `not-needed`, every call was matched and every callback was delivered. */
  readonly ok: boolean;
  /** The number of invocations; retries of an invocation are not counted. */
  readonly calls: number;
  readonly fixtures: readonly FixtureVerdict[];
  readonly unmatched: Findings<UnmatchedCall>;
  readonly undelivered: Findings<UndeliveredCallback>;
  /** How long the requests took until their responses, in total, in milliseconds. */
  readonly ms: { readonly invocations: number; readonly callbacks: number };
}

/** How many calls a fixture expects; default: at least one. */
export interface Expectation {
  readonly min?: number | undefined;
  readonly max?: number | undefined;
}

/** Whether a fixture was used as expected. */
export interface FixtureVerdict {
  readonly id: string;
  /** `file:line`, or `file#n`. */
  readonly place: string;
  /** The operation and arguments that it matches, for fixtures without a line number. */
  readonly answers?: string;
  /** A sequence counts as used after its first step. */
  readonly calls: number;
  /** The total time of its calls, from the invocation to the accepted result, in milliseconds. */
  readonly ms: number;
  /** `not-needed`: no call came, and none was required. */
  readonly status: 'used' | 'not-needed' | 'unused' | 'too-few' | 'too-many';
  readonly expected?: Expectation;
}

/** A call that no fixture answered, so it ended in an error result. Fields are null if the invocation does not have them. */
export interface UnmatchedCall {
  readonly operation: string | null;
  readonly id: string | null;
  readonly group_id: string | null;
  /** The reason if it is more than a missing fixture: an unknown operation, wrong arguments … */
  readonly reason?: string;
  /** The fixture with the fewest differences, and the first path at which the call differs. */
  readonly nearest?: NearestFixture;
}

/** A callback that did not arrive. */
export interface UndeliveredCallback {
  readonly operation: string | null;
  readonly id: string | null;
  /** The callback URL without its query. */
  readonly url: string | null;
  readonly type?: string;
  readonly why: string;
}

/** The verdict on the client of a session: whether everything happened that the test expected. */
export interface SessionVerificationReport {
  readonly ok: boolean;
  readonly sessions: number;
  /** Calls that were pending at some time, and how many of them were answered. */
  readonly calls: number;
  readonly answered: number;
  readonly problems: Findings<SessionProblem>;
}

/**
 * `unanswered`: a pending call got no answer. `unexpected`: the answer differs from the script. `unreached`: rounds that never began.
 * `refused`: a post of results, or the creation of a session, was not accepted.
 */
export type SessionProblem =
  | ({ readonly kind: 'unanswered' } & AgentCall)
  | ({ readonly kind: 'unexpected'; readonly path: string; readonly reason: string } & AgentCall)
  | { readonly kind: 'unreached'; readonly session: string; readonly rounds: number; readonly of: number }
  | {
      readonly kind: 'refused';
      /** Default: a post of results. */
      readonly what?: 'session';
      /** Null if the request names no existing session. */
      readonly session: string | null;
      readonly status: number;
      readonly reason: string;
    };

/** A call of an agent session. */
export interface AgentCall {
  readonly session: string;
  readonly call: string;
  readonly tool_name: string;
}

interface VerifiedFixture {
  readonly id: string;
  readonly place: string;
  readonly match?: { readonly operation?: unknown; readonly arguments?: unknown } | undefined;
  readonly expect?: { readonly calls?: Expectation | undefined } | undefined;
}

/** Lengths of reported texts, in characters, and number of reported answers. */
const REPORTED = { id: 256, text: 4_096, answers: 120 };

/** One call, with the fields of its invocation that reports show; null if missing. */
class CallRecord {
  /** Undefined until decided; null if no fixture answers. */
  fixture: string | null | undefined;
  /** Its entry in the report, if no fixture answers; the reason may be known only with the error result. */
  unmatched: { -readonly [Key in keyof UnmatchedCall]: UnmatchedCall[Key] } | undefined;
  /** When its latest accepted invocation came. */
  openedAt = 0;
  /** Whether the invocation was not accepted; it may come again. */
  isRefused = false;
  /** Whether lost callbacks are planned. */
  mayLoseCallbacks = false;
  /** The number of planned copies of callbacks: one of each may be lost. */
  copies = 0;
  /** The callback that is planned to be broken, and may be lost. */
  brokenCallback: 'none' | 'next' | 'current' = 'none';
  /** The latest callback that was not accepted yet. */
  sent: Body | undefined;

  #caller: Caller | undefined;

  constructor(
    readonly key: string | undefined,
    readonly thread: string | undefined,
    private invocation: Body | undefined,
  ) {}

  /** Read when a report needs it: most calls are in no report. */
  get caller(): Caller {
    this.#caller ??= callerIn(fieldsOf(this.invocation));
    return this.#caller;
  }

  /** Frees the messages of a finished call. */
  finish(): void {
    this.sent = undefined;
    if ((this.invocation?.size ?? 0) <= SMALL) return;
    this.#caller = this.caller;
    this.invocation = undefined;
  }

  lost(why: string): UndeliveredCallback {
    const { operation, id, callbackUrl } = this.caller;
    const type = textAt(fieldsOf(this.sent), 'type', REPORTED.id);
    const url = callbackUrl === null ? null : urlWithoutQuery(urlRedactor([callbackUrl]).text(callbackUrl));
    return { operation, id, url, ...(type !== null && { type }), why };
  }
}

/** What reports show of an invocation. `callbackUrl` contains a secret. */
interface Caller {
  readonly operation: string | null;
  readonly id: string | null;
  readonly group_id: string | null;
  readonly callbackUrl: string | null;
}

function callerIn(invocation: Record<string, unknown> | null): Caller {
  return {
    operation: textAt(invocation, 'operation', REPORTED.id),
    id: textAt(invocation, 'id', REPORTED.id),
    group_id: textAt(invocation, 'group_id', REPORTED.id),
    callbackUrl: textAt(invocation, 'callback_url', REPORTED.text),
  };
}

/** Size of an invocation that a finished call keeps, in bytes. */
const SMALL = 4_096;

interface OpenRequest {
  readonly call: CallRecord;
  readonly at: number;
  /** Undefined for the invocation. */
  readonly callback?: Body | undefined;
  /** Whether the response to the invocation is the result. */
  readonly isDirect?: boolean;
}

/**
 * Folds the events of a mock into a verdict: fixtures never used, calls that no fixture answered, callbacks that did not arrive, unmet
 * expectations. Cumulative, in memory bounded by the open calls.
 *
 * A call counts for the fixture that `matched` it. A call that no fixture matched, or that gets a callback without a match, is
 * unmatched: so are unknown operations, wrong arguments and malformed invocations; the error's text is the reason. A call over the rate
 * limit was answered as planned and is neither.
 *
 * A call is delivered once its `tool_result` is accepted, after any number of attempts; the call of a client without callbacks once its
 * request is answered. No result is expected where silence or a broken result was planned (another callback broken on purpose concerns
 * only itself), where the call was cancelled or its thread closed, or where the invocation was not accepted.
 */
export class Verification {
  #fixtures: readonly VerifiedFixture[];
  #total = 0;
  readonly #counts = new Map<string, number>();
  /** The total time of the finished calls of each fixture. */
  readonly #times = new Map<string, number>();
  readonly #ms = { invocations: 0, callbacks: 0 };
  /** The time of the latest event. */
  #now = 0;
  /** Fixtures that refused an invocation. */
  readonly #refusing = new Set<string>();
  readonly #open = new Map<string, CallRecord>();
  readonly #finished = new RecentMap<string, CallRecord>(LIMITS.callsFinished.value);
  readonly #requests = new Map<string, OpenRequest>();
  readonly #unmatched = new FindingsCollector<UnmatchedCall>();
  readonly #undelivered = new FindingsCollector<UndeliveredCallback>();

  constructor(fixtures: readonly VerifiedFixture[]) {
    this.#fixtures = fixtures;
  }

  /** Replaces the fixtures. Fixtures with the same id keep their calls. */
  reload(fixtures: readonly VerifiedFixture[]): void {
    this.#fixtures = fixtures;
  }

  apply(event: Event): void {
    this.#now = event.at;
    if (event.kind === 'request') this.#onRequest(event);
    else if (event.kind === 'response') this.#onResponse(event);
    else if (event.kind === 'broken') this.#takeRequest(event.leg);
    else
      for (const key of event.calls ?? []) {
        const call = this.#call(key);
        if (call) this.#onFact(call, event);
      }
  }

  /** Whether a call still waits for its result to be delivered. */
  get hasOpenCalls(): boolean {
    return this.#open.size > 0;
  }

  /** The verdict so far: an open call counts as undelivered. */
  report(): VerificationReport {
    const fixtures = this.#fixtures.map(each => {
      const use = {
        calls: this.#counts.get(each.id) ?? 0,
        ms: elapsedMs(this.#times.get(each.id) ?? 0, 0),
        hasRefused: this.#refusing.has(each.id),
      };
      return fixtureVerdict(each, use);
    });
    const found = this.#unmatched.with();
    const unmatched = { ...found, examples: found.examples.map(call => ({ ...call })) };
    const open = Array.from(this.#open.values(), call => call.lost('still pending'));
    const undelivered = this.#undelivered.with(open);
    const isUsed = fixtures.every(({ status }) => status === 'used' || status === 'not-needed');
    const ok = isUsed && unmatched.count === 0 && undelivered.count === 0;
    const ms = {
      invocations: elapsedMs(this.#ms.invocations, 0),
      callbacks: elapsedMs(this.#ms.callbacks, 0),
    };
    return { ok, calls: this.#total, fixtures, unmatched, undelivered, ms };
  }

  #call(key: string): CallRecord | undefined {
    return this.#open.get(key) ?? this.#finished.get(key);
  }

  #finish(call: CallRecord): void {
    if (call.key === undefined || !this.#open.delete(call.key)) return;
    const { fixture, openedAt } = call;
    if (fixture) this.#times.set(fixture, (this.#times.get(fixture) ?? 0) + this.#now - openedAt);
    call.finish();
    this.#finished.set(call.key, call);
  }

  #finishWithoutResult(call: CallRecord): void {
    call.mayLoseCallbacks = true;
    this.#finish(call);
  }

  #onRequest(event: RequestEvent): void {
    const { purpose, calls = [], thread } = event;
    if (purpose === 'invocation') return void this.#onInvocation(event);
    if (purpose === 'close')
      for (const call of [...this.#open.values()])
        if (call.thread === thread) this.#finishWithoutResult(call);
    for (const key of calls) {
      const call = this.#call(key);
      if (call && purpose === 'callback') this.#onCallback(call, event);
      if (call && purpose === 'cancel') this.#finishWithoutResult(call);
    }
  }

  #onInvocation(event: RequestEvent): void {
    const { calls: [key] = [], leg, thread, body } = event;
    const known = key === undefined ? undefined : this.#call(key);
    if (known && !known.isRefused) return; // sent again
    const call = known ?? new CallRecord(key, thread, body);
    if (!known) this.#total++;
    if (key === undefined) {
      this.#addUnmatched(call, { reason: malformation(body) });
      return;
    }
    call.isRefused = false;
    call.openedAt = this.#now;
    this.#requests.set(leg, { call, at: this.#now, isDirect: isDirect(event) });
    if (known) this.#finished.delete(key);
    this.#open.set(key, call);
  }

  #onCallback(call: CallRecord, { leg, body, attempt }: RequestEvent): void {
    call.sent = body;
    if (attempt === 1) call.brokenCallback = call.brokenCallback === 'next' ? 'current' : 'none';
    this.#requests.set(leg, { call, at: this.#now, callback: body });
    if (call.fixture === undefined && this.#open.has(call.key ?? '')) this.#addUnmatched(call, {});
    explain(call, body);
  }

  /** Removes a request that has ended, and adds its time. */
  #takeRequest(leg: string): OpenRequest | undefined {
    const request = this.#requests.get(leg);
    if (!request) return undefined;
    this.#requests.delete(leg);
    this.#ms[request.callback ? 'callbacks' : 'invocations'] += this.#now - request.at;
    return request;
  }

  #onResponse({ leg, status, body }: EventOf<'response'>): void {
    const request = this.#takeRequest(leg);
    if (!request) return;
    const { call, callback, isDirect } = request;
    const isAccepted = status >= 200 && status < 300;
    if (callback) {
      if (!isAccepted) return;
      call.sent = undefined;
      if (isToolResult(callback)) this.#finish(call);
    } else if (isDirect && isAccepted) {
      explain(call, body);
      this.#finish(call);
    } else if (status !== 200) {
      call.isRefused = true; // a runtime takes 201 and 204 as refusals
      this.#finish(call);
    }
  }

  #onFact(call: CallRecord, event: Exclude<Event, EventOf<'request' | 'response' | 'broken'>>): void {
    if (event.kind === 'matched') this.#onMatch(call, event);
    else if (event.kind === 'planned') this.#onPlan(call, event);
    else if (event.kind === 'dropped') {
      if (event.what === 'callback') this.#onLoss(call, event.why);
    } else if (event.kind === 'decided') {
      if (event.what === 'cancel') this.#finishWithoutResult(call);
    } else
      ignored<
        | 'expected'
        | 'answered'
        | 'denied'
        | 'loaded'
        | 'expired'
        | 'shaped'
        | 'warned'
        | 'session'
        | 'awaiting'
        | 'driver'
        | 'exited'
      >(event);
  }

  #onMatch(call: CallRecord, { fixture, nearest }: EventOf<'matched'>): void {
    if (call.fixture !== undefined) return; // counted once, however often it is sent
    if (fixture === null) this.#addUnmatched(call, nearest ? { nearest } : {});
    else this.#counts.set(fixture, (this.#counts.get(fixture) ?? 0) + 1);
    call.fixture = fixture;
  }

  #onPlan(call: CallRecord, { plan, fixture, type = 'tool_result' }: EventOf<'planned'>): void {
    if (fixture !== undefined) this.#refusing.add(fixture);
    if (plan === 'rate-limit') call.fixture ??= null;
    if (plan === 'duplicate') call.copies++;
    if (/^choice (?!delay$)/.test(plan)) this.#finishWithoutResult(call); // the answer to its question does not count
    const effect = effectOf(plan);
    if (effect === 'accepted') return;
    if (type === 'tool_result') this.#finishWithoutResult(call);
    else call.brokenCallback = effect === 'unsent' ? 'none' : 'next';
  }

  #onLoss(call: CallRecord, why: string): void {
    if (call.mayLoseCallbacks) return;
    if (call.brokenCallback !== 'none') call.brokenCallback = 'none';
    else if (call.copies > 0) call.copies--;
    else {
      this.#undelivered.add(call.lost(why));
      this.#finish(call);
    }
    call.sent = undefined;
  }

  #addUnmatched(call: CallRecord, why: Pick<UnmatchedCall, 'reason' | 'nearest'>): void {
    const { operation, id, group_id } = call.caller;
    call.fixture = null;
    call.unmatched = { operation, id, group_id, ...why };
    this.#unmatched.add(call.unmatched);
  }
}

interface FixtureUse {
  readonly calls: number;
  readonly ms: number;
  /** Whether it refused a call, which counts as use unless a number of calls is expected. */
  readonly hasRefused: boolean;
}

function fixtureVerdict(
  { id, place, match, expect }: VerifiedFixture,
  { calls, ms, hasRefused }: FixtureUse,
): FixtureVerdict {
  const expected = expect?.calls;
  const status = hasRefused && !expected ? 'used' : statusOf(calls, expected);
  return { id, place, ...answersOf(place, match), calls, ms, status, ...(expected && { expected }) };
}

/** The default `min` is 1, or 0 if `max` is 0. */
function statusOf(
  calls: number,
  { max = Number.POSITIVE_INFINITY, min = Math.min(1, max) }: Expectation = {},
): FixtureVerdict['status'] {
  if (calls > max) return 'too-many';
  if (calls === 0) return min > 0 ? 'unused' : 'not-needed';
  return calls < min ? 'too-few' : 'used';
}

/** What a fixture without a line number matches, such as one of a recording or a JSON file (`run.ndjson#2`). */
function answersOf(place: string, match: VerifiedFixture['match']): { answers?: string } {
  if (!match || !/#\d+$/.test(place)) return {};
  const { operation = 'any operation', arguments: args } = match;
  const exact = isRecord(args) ? (args['$exact'] ?? args['$eq'] ?? args) : args; // a recording's match exactly
  const parts = exact === undefined ? [operation] : [operation, exact];
  const words = parts.map(part => (typeof part === 'string' ? part : compactJson(part)));
  return { answers: truncateBeforeToken(words.join(' '), REPORTED.answers) };
}

function malformation(body: Body | undefined): string {
  const reading = body && readInvocation(body.peekJson());
  const faults = reading && !reading.ok ? reading.faults : ['it has no body'];
  return `the invocation is malformed: ${faults.join('; ')}`;
}

/** Takes the reason of an unmatched call from its error: a result of RAP or MCP, or a JSON-RPC error. */
function explain({ unmatched }: CallRecord, result: Body | undefined): void {
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
