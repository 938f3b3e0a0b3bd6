import { readInvocation } from '../protocol/read-invocation.js';
import { readJson } from '../util/json.js';
import { compactJson, cut, isRecord, RecentMap } from '../util/json-diagnosis.js';
import { bareUrl } from '../util/redact.js';
import type { Content } from './content.js';
import type { Event, RequestEvent } from './events.js';
import { isDirect } from './questions.js';
import { urlSecrets } from './shareable.js';
import {
  type Expectation,
  FindingsCollector,
  type FixtureStatus,
  type FixtureVerdict,
  type UndeliveredCallback,
  type UnmatchedCall,
  type VerificationReport,
} from './verification-report.js';

/** Who called, in the words of the invocation; null what it does not say. */
interface Caller {
  readonly operation: string | null;
  readonly id: string | null;
  readonly group_id: string | null;
  /** The callback URL as it was given: not for other eyes. */
  readonly callbackUrl: string | null;
}

const NOBODY: Caller = { operation: null, id: null, group_id: null, callbackUrl: null };

function callerOf(invocation: Content): Caller {
  const fields = fieldsOf(invocation);
  return {
    operation: briefly(textAt(fields, 'operation'), 256),
    id: briefly(textAt(fields, 'id'), 256),
    group_id: briefly(textAt(fields, 'group_id'), 256),
    callbackUrl: briefly(textAt(fields, 'callback_url'), 4_096),
  };
}

const BEGINNING = Buffer.from('{"type":"tool_result"');
const NAME = Buffer.from('tool_result');

/** Without reading a long message: nearly every one begins with its type, and one that does not name it has another. */
export function isToolResult(callback: Content): boolean {
  const { buffer, byteOffset, length } = callback.bytes;
  const bytes = Buffer.from(buffer, byteOffset, length);
  if (bytes.subarray(0, BEGINNING.length).equals(BEGINNING)) return true;
  return bytes.includes(NAME) && typeOf(callback) === 'tool_result';
}

function typeOf(callback: Content): string | null {
  return textAt(fieldsOf(callback), 'type');
}

/** What went wrong, in the words of a result of RAP or of MCP, or of an error of JSON-RPC. */
function errorTextOf(result: Content): string | null {
  const fields = fieldsOf(result);
  const { content, error } = fields ?? {};
  const [block] = Array.isArray(content) ? content : [];
  const text = textAt(fields, 'text') ?? textAt(block, 'text') ?? textAt(error, 'message');
  return text === null ? null : briefly(text.replace(/^Error: /, ''), 4_096);
}

/** Read anew each time: a journal holds on to the bytes, and is not to hold on to what they say as well. */
function fieldsOf({ bytes }: Content): Record<string, unknown> | null {
  const json = readJson(bytes);
  return json.ok && isRecord(json.value) ? json.value : null;
}

function textAt(fields: unknown, key: string): string | null {
  const value = isRecord(fields) && Object.hasOwn(fields, key) ? fields[key] : null;
  return typeof value === 'string' ? value : null;
}

/** What is remembered for long has to be short. A copy: a part of a text holds on to all of it. */
function briefly<T extends string | null>(text: T, most: number): T | string {
  return text === null || text.length <= most ? text : `${Buffer.from(text.slice(0, most)).toString()}…`;
}

/** What verification knows of a fixture. */
interface VerifiedFixture {
  readonly id: string;
  readonly place: string;
  readonly match?: { readonly operation?: unknown; readonly arguments?: unknown } | undefined;
  readonly expect?: { readonly calls?: Expectation | undefined } | undefined;
}

/** @param hasRefused it refused a call, which is no call of its own, but a use: where nothing else is expected of it, that is enough. */
export function fixtureVerdict(
  { id, place, match, expect }: VerifiedFixture,
  calls: number,
  hasRefused = false,
): FixtureVerdict {
  const expected = expect?.calls;
  const status = hasRefused && !expected ? 'used' : statusOf(calls, expected);
  return { id, place, ...answersOf(place, match), calls, status, ...(expected && { expected }) };
}

/** Characters of it. */
const LONGEST = 120;

/** Those of a file that was read as JSON, or of a recording, are numbered: `run.ndjson#2`. */
function answersOf(place: string, match: VerifiedFixture['match']): { answers?: string } {
  if (!match || !/#\d+$/.test(place)) return {};
  const { operation = 'any operation', arguments: args } = match;
  const told = [operation, wanted(args)].filter(each => each !== undefined);
  const words = told.map(each => (typeof each === 'string' ? each : compactJson(each)));
  return { answers: cut(words.join(' '), LONGEST) };
}

/** Those of a recording are exactly these. */
function wanted(args: unknown): unknown {
  return isRecord(args) ? (args['$exact'] ?? args['$eq'] ?? args) : args;
}

export function isFine({ status }: FixtureVerdict): boolean {
  return status === 'used' || status === 'not-needed';
}

/** Without a `min` it is one, unless no call at all is allowed. */
function statusOf(
  calls: number,
  { max = Number.POSITIVE_INFINITY, min = Math.min(1, max) }: Expectation = {},
): FixtureStatus {
  if (calls > max) return 'too-many';
  if (calls === 0) return min > 0 ? 'unused' : 'not-needed';
  return calls < min ? 'too-few' : 'used';
}

/** A call that no fixture answered; why may be known only once its error result is made. */
class UnmatchedFinding {
  #told: UnmatchedCall;

  constructor({ operation, id, group_id }: Caller, why: Pick<UnmatchedCall, 'reason' | 'nearest'>) {
    this.#told = { operation, id, group_id, ...why };
  }

  get told(): UnmatchedCall {
    return this.#told;
  }

  explain(result: Content): void {
    if (this.#told.reason !== undefined || this.#told.nearest) return;
    const reason = errorTextOf(result);
    if (reason !== null) this.#told = { ...this.#told, reason };
  }
}

const REMEMBERED = 4_096;
/** Bytes of a call that are worth reading it for, to keep what it says instead of them. */
const LARGE = 4_096;

/** One call, as far as verification follows it. */
class KnownCall {
  /** Undefined until it is decided; null where none answers. */
  fixture: string | null | undefined;
  /** The finding, if no fixture answers. */
  unmatched: UnmatchedFinding | undefined;
  /** Nothing is owed any more. */
  isOver = false;
  /** The invocation was not accepted: it may come again. */
  isRefused = false;
  /** Whatever happens to its callbacks is as it was meant to be. */
  isExcused = false;
  /** Callbacks that were sent twice on purpose: one of each may be lost. */
  spare = 0;
  /** Which callback was broken on purpose, so that it may be lost: the one that comes next, or the one that was sent last. */
  spared: 'none' | 'next' | 'current' = 'none';
  /** The callback that was sent last and not yet taken. */
  sent: Content | undefined;
  #invocation: Content | undefined;
  #caller: Caller | undefined;

  constructor(
    public thread: string | undefined,
    invocation: Content | undefined,
  ) {
    this.#invocation = invocation;
  }

  get caller(): Caller {
    this.#caller ??= this.#invocation ? callerOf(this.#invocation) : NOBODY;
    return this.#caller;
  }

  /** Bytes that are held on to. */
  get size(): number {
    return (this.#invocation?.size ?? 0) + (this.sent?.size ?? 0);
  }

  /** Keeps who called, and lets go of the bytes. Of no thread any more: nothing is owed. */
  slim(): void {
    this.#caller = this.caller;
    this.thread = undefined;
    this.#invocation = undefined;
    this.sent = undefined;
  }
}

/** The calls that are not over, and the last of those that are: a repeat, or an event that is lost, may still follow. */
class KnownCalls {
  readonly #open = new Map<string, KnownCall>();
  readonly #over = new RecentMap<string, KnownCall>(REMEMBERED);

  get(key: string): KnownCall | undefined {
    return this.#open.get(key) ?? this.#over.get(key);
  }

  get open(): Iterable<KnownCall> {
    return this.#open.values();
  }

  begin(key: string, call: KnownCall): void {
    call.isOver = false;
    call.isRefused = false;
    this.#over.delete(key);
    this.#open.set(key, call);
  }

  end(key: string, call: KnownCall): void {
    call.isOver = true;
    if (!this.#open.delete(key)) return;
    if (call.size > LARGE) call.slim();
    this.#over.set(key, call);
  }

  endThread(thread: string | undefined, how: (call: KnownCall) => void): void {
    for (const [key, call] of this.#open)
      if (call.thread === thread) {
        how(call);
        this.end(key, call);
      }
  }
}

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
      this.#isUnmatched(call, { reason: malformation(body) });
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
