import {
  type Body,
  type Event,
  type EventOf,
  ignored,
  isDirect,
  type RequestEvent,
} from '../events/events.js';
import { effectOf } from '../events/faults.js';
import { isSuccess } from '../protocol/http-status.js';
import { readInvocation } from '../protocol/invocation.js';
import { FindingsCollector, RecentMap } from '../util/collections.js';
import { LIMITS } from '../util/limits.js';
import { elapsedMs, truncateBeforeToken } from '../util/text.js';
import { compactJson, isRecord } from '../util/values.js';
import { CallRecord, typeOf } from './call-record.js';
import { fixtureProblem, undeliveredProblems, unmatchedProblems } from './problems.js';
import type {
  Expectation,
  FixtureVerdict,
  UndeliveredCallback,
  UnmatchedCall,
  VerificationReport,
} from './report.js';

interface VerifiedFixture {
  readonly id: string;
  readonly place: string;
  readonly match?: { readonly operation?: unknown; readonly arguments?: unknown } | undefined;
  readonly expect?: { readonly calls?: Expectation | undefined } | undefined;
  readonly faults?: { readonly ack?: { readonly times?: number | undefined } | null } | undefined;
}

interface OpenRequest {
  readonly call: CallRecord;
  readonly at: number;
  /** Undefined for the invocation. */
  readonly callback?: { readonly type: string | null };
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
 * only itself), where the call was cancelled or its thread closed, or where the invocation was not accepted. A thread that is closed after
 * its runtime refused the result excuses nothing. A question whose answers were all refused is not answered: the runtime is wrong, even if
 * the call went on without an answer.
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
  readonly #finished = new RecentMap<string, CallRecord>(LIMITS.eventsKept.value);
  readonly #requests = new Map<string, OpenRequest>();
  /** The calls whose questions were answered, by the request with the answer. */
  readonly #answers = new Map<string, CallRecord>();
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
    else if (event.kind === 'broken') this.#onBroken(event.leg);
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
    const open = Array.from(this.#open.values(), call => call.undelivered(call.callbacks.missing));
    const undelivered = this.#undelivered.with(open);
    const isUsed = fixtures.every(({ status }) => status === 'used' || status === 'not-needed');
    const ok = isUsed && unmatched.count === 0 && undelivered.count === 0;
    const ms = {
      invocations: elapsedMs(this.#ms.invocations, 0),
      callbacks: elapsedMs(this.#ms.callbacks, 0),
    };
    const problems = [
      ...fixtures.flatMap(each => fixtureProblem(each) ?? []),
      ...unmatchedProblems(unmatched),
      ...undeliveredProblems(undelivered),
    ];
    return { ok, calls: this.#total, fixtures, unmatched, undelivered, ms, problems };
  }

  #call(key: string): CallRecord | undefined {
    return this.#open.get(key) ?? this.#finished.get(key);
  }

  #finish(call: CallRecord): void {
    if (call.key === undefined || !this.#open.delete(call.key)) return;
    const { fixture, openedAt } = call;
    if (fixture) this.#times.set(fixture, (this.#times.get(fixture) ?? 0) + this.#now - openedAt);
    this.#finished.set(call.key, call);
  }

  #finishWithoutResult(call: CallRecord): void {
    call.callbacks.expectNoResult();
    this.#finish(call);
  }

  #onRequest(event: RequestEvent): void {
    const { purpose, calls = [], thread, leg, method } = event;
    if (purpose === 'invocation') return void this.#onInvocation(event);
    if (purpose === 'close') this.#onClose(thread);
    for (const key of calls) {
      const call = this.#call(key);
      if (call && purpose === 'callback') this.#onCallback(call, event);
      if (call && purpose === 'cancel') this.#finishWithoutResult(call);
      const isAnswer = purpose === 'choice' || (purpose === 'consent' && method === 'POST');
      if (call && isAnswer) this.#answers.set(leg, call);
    }
  }

  #onClose(thread: string | undefined): void {
    for (const call of [...this.#open.values()])
      if (call.thread === thread && !call.callbacks.isResultRefused) this.#finishWithoutResult(call);
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
    call.open(this.#now);
    this.#requests.set(leg, { call, at: this.#now, isDirect: isDirect(event) });
    if (known) this.#finished.delete(key);
    this.#open.set(key, call);
  }

  #onCallback(call: CallRecord, { leg, body, attempt }: RequestEvent): void {
    const type = typeOf(body);
    call.callbacks.onSent(type, attempt);
    this.#requests.set(leg, { call, at: this.#now, callback: { type } });
    if (call.fixture === undefined && this.#open.has(call.key ?? '')) this.#addUnmatched(call, {});
    call.explain(body);
  }

  /** Removes a request that has ended, and adds its time. */
  #takeRequest(leg: string): OpenRequest | undefined {
    const request = this.#requests.get(leg);
    if (!request) return undefined;
    this.#requests.delete(leg);
    this.#ms[request.callback ? 'callbacks' : 'invocations'] += this.#now - request.at;
    return request;
  }

  #onBroken(leg: string): void {
    this.#takeRequest(leg);
    this.#answers.delete(leg);
  }

  #onResponse({ leg, status, body }: EventOf<'response'>): void {
    const asking = this.#answers.get(leg)?.callbacks;
    this.#answers.delete(leg);
    if (isSuccess(status)) asking?.onAnswered();
    else asking?.onAnswerRefused(refusalText(status, body));
    const request = this.#takeRequest(leg);
    if (!request) return;
    const { call, callback, isDirect } = request;
    const isAccepted = isSuccess(status);
    if (callback) {
      if (isAccepted) this.#onDelivery(call, callback.type);
      else call.callbacks.onRefused(callback.type);
    } else if (isDirect && isAccepted) {
      call.explain(body);
      this.#finish(call);
    } else if (status !== 200) {
      call.refuse(); // a runtime takes 201 and 204 as refusals
      this.#finish(call);
    }
  }

  #onDelivery(call: CallRecord, type: string | null): void {
    const { callbacks, key = '' } = call;
    callbacks.onAccepted();
    if (type !== 'tool_result') return;
    if (callbacks.isBroken) callbacks.expectNoResult();
    else if (callbacks.isAnswerRefused && this.#open.has(key))
      this.#undelivered.add(call.undelivered(callbacks.missing));
    this.#finish(call);
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
    call.match(fixture);
  }

  #onPlan(call: CallRecord, { plan, fixture, type = 'tool_result' }: EventOf<'planned'>): void {
    if (fixture !== undefined) this.#refusing.add(fixture);
    if (plan === 'rate-limit') call.match(null);
    if (plan === 'duplicate') call.callbacks.planCopy();
    if (/^choice (?!delay$)/.test(plan)) this.#finishWithoutResult(call); // the answer to its question does not count
    const effect = effectOf(plan);
    if (effect === 'accepted') return;
    // a runtime may refuse a message that looks like a result, and a result may follow
    if (type === 'tool_result' && plan !== 'message') this.#finishWithoutResult(call);
    else call.callbacks.planBroken({ isSent: effect !== 'unsent' });
  }

  #onLoss(call: CallRecord, why: string): void {
    if (call.callbacks.onLost()) return;
    this.#undelivered.add(call.undelivered(why));
    this.#finish(call);
  }

  #addUnmatched(call: CallRecord, why: Pick<UnmatchedCall, 'reason' | 'nearest'>): void {
    this.#unmatched.add(call.markUnmatched(why));
  }
}

interface FixtureUse {
  readonly calls: number;
  readonly ms: number;
  /** Whether it refused a call, as planned. That counts as use if it refuses each one, and no number of calls is expected. */
  readonly hasRefused: boolean;
}

function fixtureVerdict(
  { id, place, match, expect, faults }: VerifiedFixture,
  { calls, ms, hasRefused }: FixtureUse,
): FixtureVerdict {
  const expected = expect?.calls;
  const isForever = faults?.ack?.times === undefined;
  const status = hasRefused && isForever && !expected ? 'used' : statusOf(calls, expected);
  const { operation } = match ?? {};
  return {
    id,
    place,
    ...answersOf(place, match),
    ...(typeof operation === 'string' && { operation }),
    calls,
    ms,
    status,
    ...(hasRefused && calls === 0 && { refused: true }),
    ...(expected && { expected }),
  };
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

/** Length of what a fixture answers, as reported, in characters. */
const ANSWERS_LENGTH = 120;

/** What a fixture without a line number matches, such as one of a recording or a JSON file (`run.ndjson#2`). */
function answersOf(place: string, match: VerifiedFixture['match']): { answers?: string } {
  if (!match || !/#\d+$/.test(place)) return {};
  const { operation = 'any operation', arguments: args } = match;
  const exact = isRecord(args) ? (args['$exact'] ?? args['$eq'] ?? args) : args; // a recording's match exactly
  const parts = exact === undefined ? [operation] : [operation, exact];
  const words = parts.map(part => (typeof part === 'string' ? part : compactJson(part)));
  return { answers: truncateBeforeToken(words.join(' '), ANSWERS_LENGTH) };
}

/** The first line of a refusal. */
function refusalText(status: number, body: Body | undefined): string {
  const reason = body?.text?.split('\n', 1)[0];
  return reason ? `${status}: ${reason}` : `${status}`;
}

function malformation(body: Body | undefined): string {
  const reading = body && readInvocation(body.peekJson());
  const faults = reading && !reading.ok ? reading.faults : ['it has no body'];
  return `the invocation is malformed: ${faults.join('; ')}`;
}
