import { readInvocation } from '../../protocol/read-invocation.js';
import { readJson } from '../../text/json.js';
import { bareUrl } from '../../text/redact.js';
import { urlSecrets } from '../callback-secrets.js';
import type { Content } from '../content.js';
import { isDirect } from '../direct.js';
import type { Event, RequestEvent } from '../events.js';
import { isToolResult, typeOf } from './caller.js';
import { FindingsCollector } from './findings.js';
import { fixtureVerdict, isFine, type VerifiedFixture } from './fixture-verdict.js';
import { KnownCall, KnownCalls } from './known-calls.js';
import type { UndeliveredCallback, UnmatchedCall, VerificationReport } from './report.js';
import { UnmatchedFinding } from './unmatched-finding.js';

type Told<K extends Event['kind']> = Extract<Event, { kind: K }>;

/** Plans after which no callback comes, or a runtime does right not to take it. */
const SABOTAGE = new Set([
  'silence',
  'drop',
  'wrong-id',
  'wrong-group',
  'wrong-type',
  'malformed',
  'oversize',
]);

/** A request that is not answered yet. */
interface Leg {
  readonly call: KnownCall;
  readonly key: string;
  /** Of a callback; undefined where it is the invocation. */
  readonly callback?: Content | undefined;
  /** A client that is not called back: what its request is answered is the result. */
  readonly isDirect?: boolean;
}

/**
 * Folds the events of a mock into a verdict: fixtures never used, calls that none answered, callbacks that did not arrive,
 * expectations that were not met. Cumulative, and bounded by the calls under way: it never looks back into a journal.
 *
 * A call counts for the fixture that `matched` it. One that is matched by none, or gets a callback without having been matched,
 * is unmatched: so are an unknown operation, wrong arguments and a malformed invocation, with the error's words as the reason.
 * One that is over the rate was answered as it was asked for: it is neither.
 *
 * A call is delivered once its `tool_result` is taken with a 2xx, after however many attempts; that of a client that is not called
 * back, once its request is answered. It owes none where silence or a
 * broken result was planned (any other callback that was broken on purpose excuses itself alone), where it was cancelled or its thread closed, or where its invocation was not accepted. What
 * began before this verification did, or is long over, is not its business.
 */
export class Verification {
  #fixtures: readonly VerifiedFixture[];
  #total = 0;
  readonly #counts = new Map<string, number>();
  /** Fixtures that refused an invocation. */
  readonly #refusers = new Set<string>();
  readonly #calls = new KnownCalls();
  readonly #legs = new Map<string, Leg>();
  readonly #unmatched = new FindingsCollector<UnmatchedFinding>();
  readonly #undelivered = new FindingsCollector<UndeliveredCallback>();

  constructor(fixtures: readonly VerifiedFixture[]) {
    this.#fixtures = fixtures;
  }

  /** Other fixtures from now on; those that keep their id keep their calls. */
  reload(fixtures: readonly VerifiedFixture[]): void {
    this.#fixtures = fixtures;
  }

  apply(event: Event): void {
    if (event.earlier) return;
    if (event.kind === 'request') this.#onRequest(event);
    else if (event.kind === 'response') this.#onAnswer(event);
    else if (event.kind === 'broken') this.#legs.delete(event.leg);
    else for (const key of event.calls ?? []) this.#onFact(key, this.#calls.get(key), event);
  }

  /** Whether a call still waits for its result to be delivered. */
  get hasOpenCalls(): boolean {
    for (const _ of this.#calls.open) return true;
    return false;
  }

  /** As of now: a call that is not over yet is undelivered. */
  report(): VerificationReport {
    const fixtures = this.#fixtures.map(each =>
      fixtureVerdict(each, this.#counts.get(each.id) ?? 0, this.#refusers.has(each.id)),
    );
    const { count, examples } = this.#unmatched.with();
    const unmatched = { count, examples: examples.map(finding => finding.told) };
    const pending = [...this.#calls.open].map(call => lost(call, 'still pending'));
    const undelivered = this.#undelivered.with(pending);
    const ok = fixtures.every(isFine) && unmatched.count === 0 && undelivered.count === 0;
    return { ok, calls: this.#total, fixtures, unmatched, undelivered };
  }

  #onRequest(event: RequestEvent): void {
    if (event.purpose === 'invocation') this.#onInvocation(event);
    else if (event.purpose === 'close') this.#calls.endThread(event.thread, excuse);
    else
      for (const key of event.calls ?? []) {
        const call = this.#calls.get(key);
        if (call && event.purpose === 'callback') this.#onCallback(key, call, event);
        if (call && event.purpose === 'cancel') this.#excuse(key, call);
      }
  }

  #onInvocation(event: RequestEvent): void {
    const { calls: [key] = [], leg, thread, body } = event;
    const known = key === undefined ? undefined : this.#calls.get(key);
    if (known && !known.isRefused) return; // sent again
    const call = known ?? new KnownCall(thread, body);
    if (!known) this.#total++;
    if (key === undefined) {
      this.#isUnmatched(call, { reason: malformation(body) }); // and nobody can be told so
      return;
    }
    this.#legs.set(leg, { call, key, isDirect: isDirect(event) });
    this.#calls.begin(key, call);
  }

  #onCallback(key: string, call: KnownCall, { leg, body, attempt }: RequestEvent): void {
    call.sent = body;
    if (attempt === 1) call.spared = call.spared === 'next' ? 'current' : 'none';
    this.#legs.set(leg, { call, key, callback: body });
    if (call.fixture === undefined && !call.isOver) this.#isUnmatched(call, {});
    if (body) call.unmatched?.explain(body);
  }

  #onAnswer({ leg, status, body }: Told<'response'>): void {
    const known = this.#legs.get(leg);
    if (!known) return;
    this.#legs.delete(leg);
    const { call, key, callback } = known;
    const isTaken = status >= 200 && status < 300;
    if (callback && isTaken) this.#onDelivery(key, call, callback);
    if (known.isDirect && isTaken) this.#onDirectAnswer(key, call, body);
    if (callback || status === 200 || (known.isDirect && isTaken)) return; // a runtime takes 201 and 204 as refusals
    call.isRefused = true;
    this.#calls.end(key, call);
  }

  #onDirectAnswer(key: string, call: KnownCall, result: Content | undefined): void {
    if (result) call.unmatched?.explain(result);
    this.#calls.end(key, call);
  }

  #onDelivery(key: string, call: KnownCall, callback: Content): void {
    call.sent = undefined;
    if (isToolResult(callback)) this.#calls.end(key, call);
  }

  #onFact(key: string, call: KnownCall | undefined, event: Event): void {
    if (!call) return;
    if (event.kind === 'dropped' && event.what === 'callback') this.#onLoss(key, call, event);
    if (event.kind === 'matched') this.#onMatch(call, event);
    if (event.kind === 'planned') this.#onPlan(key, call, event);
    if (event.kind === 'decided' && event.what === 'cancel') this.#excuse(key, call);
  }

  #onMatch(call: KnownCall, { fixture, nearest }: Told<'matched'>): void {
    if (call.fixture !== undefined) return; // once, however often it is sent
    if (fixture === null) this.#isUnmatched(call, nearest ? { nearest } : {});
    else this.#counts.set(fixture, (this.#counts.get(fixture) ?? 0) + 1);
    call.fixture = fixture;
  }

  #onPlan(key: string, call: KnownCall, { plan, fixture, type = 'tool_result' }: Told<'planned'>): void {
    if (fixture !== undefined) this.#refusers.add(fixture);
    if (plan === 'rate-limit') call.fixture ??= null;
    if (plan === 'duplicate') call.spare++;
    if (!SABOTAGE.has(plan)) return;
    if (type === 'tool_result') this.#excuse(key, call);
    else call.spared = plan === 'drop' ? 'none' : 'next'; // one that is dropped is never sent
  }

  #onLoss(key: string, call: KnownCall, { why }: Told<'dropped'>): void {
    if (call.isExcused) return;
    if (call.spared !== 'none') call.spared = 'none';
    else if (call.spare > 0) call.spare--;
    else {
      this.#undelivered.add(lost(call, why));
      this.#calls.end(key, call);
    }
    call.sent = undefined;
  }

  #isUnmatched(call: KnownCall, why: Pick<UnmatchedCall, 'reason' | 'nearest'>): void {
    call.fixture = null;
    call.unmatched = new UnmatchedFinding(call.caller, why);
    this.#unmatched.add(call.unmatched);
  }

  #excuse(key: string, call: KnownCall): void {
    excuse(call);
    this.#calls.end(key, call);
  }
}

function excuse(call: KnownCall): void {
  call.isExcused = true;
}

function malformation(body: Content | undefined): string {
  const reading = body && readInvocation(readJson(body.bytes));
  const faults = reading && !reading.ok ? reading.faults : ['it has no body'];
  return `the invocation is malformed: ${faults.join('; ')}`;
}

function lost({ caller: { operation, id, callbackUrl }, sent }: KnownCall, why: string): UndeliveredCallback {
  const type = sent && typeOf(sent);
  const url = callbackUrl === null ? null : bareUrl(urlSecrets([callbackUrl]).text(callbackUrl));
  return { operation, id, url, ...(type && { type }), why };
}
