import { Content } from '../events/content.js';
import type { Verdict } from '../events/discovery-of.js';
import type { Event, RequestEvent, ResponseEvent } from '../events/events.js';
import type { Exchange } from '../events/exchange.js';
import { History } from '../events/history.js';
import { idOf } from '../events/judge-callback.js';
import type { TranscriptHeader } from '../events/log.js';
import { typeOfMessage } from '../events/tool-call.js';
import { type ValueChecker, valueChecker } from '../json-schema/validator.js';
import {
  type Callback,
  type CallbackReading,
  type CallbackType,
  readCallback,
} from '../protocol/callbacks.js';
import { type Invocation, type InvocationReading, readInvocation } from '../protocol/read-invocation.js';
import { readToolset, type ToolsetReading } from '../protocol/read-toolset.js';
import type { Tool, Toolset } from '../protocol/toolset.js';
import { valueAt } from '../util/redact-json.js';

/** A request and what became of it: an answer, a break, or neither so far. */
export interface Leg {
  readonly request: RequestEvent;
  readonly response: ResponseEvent | null;
  readonly broken: Extract<Event, { kind: 'broken' }> | null;
}

/** Null where it was not answered. */
export function statusOf({ response }: Leg): number | null {
  return response?.status ?? null;
}

/** When it was answered or broke, in ms since the start; null where it is still on its way. */
export function endedAt({ response, broken }: Leg): number | null {
  return response?.at ?? broken?.at ?? null;
}

/** Until it was answered, or given up, in ms; endless while it is on its way. */
export function waitedFor(leg: Leg): number {
  return (endedAt(leg) ?? Number.POSITIVE_INFINITY) - leg.request.at;
}

/** Answered as something that may be tried again, or lost on the wire. */
export function isFailedForNow(leg: Leg): boolean {
  return leg.broken !== null || (statusOf(leg) ?? 0) >= 500;
}

/** Answered with a refusal for good. */
export function isRefused(leg: Leg): boolean {
  const status = statusOf(leg) ?? 0;
  return status >= 400 && status < 500;
}

/** The index of the first request after the event `seq`; the number of requests if there is none. */
function indexAfter(seq: number, requests: readonly { readonly request: RequestEvent }[]): number {
  let [from, to] = [0, requests.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((requests[middle]?.request.seq ?? 0) > seq) to = middle;
    else from = middle + 1;
  }
  return from;
}

/** The events of a leg, by their place. */
export function eventsOf({ request, response, broken }: Leg): number[] {
  return [request, response, broken].flatMap(event => (event ? [event.seq] : []));
}

type Planned = Extract<Event, { kind: 'planned' }>;
export type Expired = Extract<Event, { kind: 'expired' }>;
type Decided = Extract<Event, { kind: 'decided' }>;

/**
 * What there is to judge by: the events of a transcript, put together by what they belong to. The same whoever saw them, a runtime, a
 * tool, a recorder between the two, or a check.
 */
export interface Evidence {
  readonly observer: TranscriptHeader['observer'];
  /** Whether nothing of it was lost: else what is not there may have been. */
  readonly isWhole: boolean;
  /** Whether a check has made calls in it, which break on purpose what a runtime must hold. */
  readonly isProbed: boolean;
  /** In the order in which they were made. */
  readonly calls: readonly CallEvidence[];
  /** Callbacks to an unknown address. */
  readonly strays: readonly CallbackEvidence[];
  readonly discoveries: readonly Discovery[];
  /** Of threads and calls, known or not. */
  readonly closes: readonly Leg[];
  readonly cancels: readonly Leg[];
  readonly migrations: readonly Leg[];
  /** All that was planned, also where no call came of it. */
  readonly plans: readonly Planned[];
  /** Operations that a check was offered and has not called. */
  readonly notCalled: readonly string[];
  /** Of what was read from lines, the number of each event's, by its `seq`. */
  readonly lines?: ReadonlyMap<number, number>;
  /** Where the tool died, what it died of. */
  readonly death: Death | null;
  /** When the last event happened, in ms since the start. */
  readonly until: number;
}

/** One invocation, well-formed or not, and what followed. */
export interface CallEvidence {
  readonly key: string;
  /** Of the first attempt's body. */
  readonly reading: InvocationReading;
  /** The tool of the toolset that it names; null where none does, or no toolset is known. */
  readonly tool: Tool | null;
  /** How its arguments break the tool's `inputSchema`; null where that could not be checked. */
  readonly argumentFaults: readonly string[] | null;
  /** Each time it was sent. */
  readonly attempts: readonly Leg[];
  /** What came to its callback URL, oldest first. */
  readonly callbacks: readonly CallbackEvidence[];
  /** Selections that were posted for it. */
  readonly selections: readonly Leg[];
  /** Notices that it is not wanted any more. */
  readonly cancels: readonly Leg[];
  /** The first notice, after it was sent, that its thread is over. */
  readonly closes: readonly Leg[];
  readonly plans: readonly Planned[];
  readonly expiries: readonly Expired[];
  /** Its tool died of something else before it came to an end. */
  readonly isCutShort: boolean;
  readonly decisions: readonly Decided[];
}

export interface CallbackEvidence extends Leg {
  /** Null where it was turned away before its body counted. */
  readonly reading: CallbackReading | null;
  /** What it means for its call; null where it is no call's, or the call itself could not be read. */
  readonly verdict: Verdict | null;
}

/** A toolset that was asked for. */
export interface Discovery extends Leg {
  /** Null where no document came. */
  readonly reading: ToolsetReading | null;
}

/** What a tool got just before it was gone. */
export type Culprit = 'malformed' | 'notice' | 'callback' | 'call';

/** A tool that died: from some message on, nothing reached it. */
export interface Death {
  readonly kind: Culprit;
  /** The message before the death; of a callback, the one that was lost or refused. */
  readonly message: Leg;
  /** The first later request, which could not connect. */
  readonly later: Leg;
  /** Messages of the same kind that were sent at the same time. */
  readonly others: number;
}

/** A callback that could be read, and what it says. */
export interface Told<Type extends CallbackType = CallbackType> {
  readonly callback: CallbackEvidence;
  readonly message: Extract<Callback, { type: Type }>;
}

/** What came to a call's URL and could be read, oldest first. */
export function told({ callbacks }: Pick<CallEvidence, 'callbacks'>): readonly Told[] {
  return callbacks.flatMap(callback =>
    callback.reading?.ok ? [{ callback, message: callback.reading.message }] : [],
  );
}

/** The first of a call's messages after an event, by its `seq`, that is wanted. */
export function firstToldAfter(
  seq: number,
  call: Pick<CallEvidence, 'callbacks'>,
  isWanted: (message: Callback) => boolean,
): Told | undefined {
  const { callbacks } = call;
  for (let at = indexAfter(seq, callbacks); at < callbacks.length; at++) {
    const callback = callbacks[at];
    const message = callback?.reading?.ok ? callback.reading.message : null;
    if (callback && message && isWanted(message)) return { callback, message };
  }
  return undefined;
}

export function toldAs<Type extends CallbackType>(
  call: Pick<CallEvidence, 'callbacks'>,
  type: Type,
): readonly Told<Type>[] {
  return told(call).flatMap(({ callback, message }) => (isA(type, message) ? [{ callback, message }] : []));
}

function isA<Type extends CallbackType>(type: Type, message: Callback): message is Told<Type>['message'] {
  return message.type === type;
}

/** The `type` that a callback gives itself, sound or not; null where it cannot be known. */
export function typeIn({ request }: CallbackEvidence): string | null {
  return typeOfMessage(request.body ?? null);
}

/** Whether a message names the call to whose URL it came. */
export function isOwn(message: Callback, { group_id, id }: Invocation): boolean {
  return message.group_id === group_id && (idOf(message) ?? id) === id;
}

/** Whether two callbacks say the same: in the same bytes, or in the same words. */
export function saysTheSame(one: CallbackEvidence, other: CallbackEvidence): boolean {
  const saying = sayingOf(one);
  return saying !== null && saying === sayingOf(other);
}

/** What a callback says, to be compared: alike for the same words in other bytes. Null where it has no body. */
export function sayingOf({ request: { body }, reading }: CallbackEvidence): string | null {
  if (!body) return null;
  if (!reading?.ok) return body.sha256;
  const known = sayings.get(reading.message) ?? Content.ofJson(reading.message).sha256;
  sayings.set(reading.message, known);
  return known;
}

/** Written once each: a call may have thousands of callbacks. */
const sayings = new WeakMap<Callback, string>();

/** The event that says that waiting for the call timed out. */
export function vainWait({ expiries }: Pick<CallEvidence, 'expiries'>): Expired | undefined {
  return expiries.find(({ what }) => what === 'timeout' || what === 'observation');
}

/** The shortest time for which it was watched what came after any of these moments, in ms. */
export function shortestWatch(moments: readonly number[], evidence: Pick<Evidence, 'until'>): number {
  const latest = moments.reduce((last, moment) => Math.max(last, moment), 0);
  return watchedSince(latest, evidence);
}

/** For how long it was watched what came after a moment, in ms. */
export function watchedSince(at: number, { until }: Pick<Evidence, 'until'>): number {
  return Math.max(0, until - at);
}

/** One message, and each time it was sent. */
export type Delivery = readonly [CallbackEvidence, ...CallbackEvidence[]];

/** Groups the callbacks of a call by message. A callback without a body is a group of its own. */
export function deliveriesOf({ callbacks }: CallEvidence): readonly Delivery[] {
  const deliveries = new Map<unknown, [CallbackEvidence, ...CallbackEvidence[]]>();
  for (const callback of callbacks) {
    const saying = sayingOf(callback) ?? callback;
    const known = deliveries.get(saying);
    if (known) known.push(callback);
    else deliveries.set(saying, [callback]);
  }
  return [...deliveries.values()];
}

/** Milliseconds from the end of each try to the begin of the next one. */
export function pausesIn(delivery: Delivery): readonly number[] {
  return delivery.slice(1).map((next, index) => {
    const before = delivery[index];
    return Math.max(0, next.request.at - ((before && endedAt(before)) ?? next.request.at));
  });
}

/** Every time a toolset was asked for, and what came. */
export function discoveriesOf(legs: readonly Leg[]): Promise<readonly Discovery[]> {
  const known = new Map<string, Promise<ToolsetReading>>();
  return Promise.all(
    legs.filter(({ request }) => request.purpose === 'discovery').map(leg => discoveryOf(leg, known)),
  );
}

/** @param known by digest: the same document is read, and its schemas are compiled, once */
async function discoveryOf(leg: Leg, known: Map<string, Promise<ToolsetReading>>): Promise<Discovery> {
  const body = statusOf(leg) === 200 ? leg.response?.body : undefined;
  if (!body) return { ...leg, reading: null };
  const reading = known.get(body.sha256) ?? readToolset(body.json);
  known.set(body.sha256, reading);
  return { ...leg, reading: await reading };
}

/** The toolsets that were known at a time, latest last. */
export function toolsetsAt(discoveries: readonly Discovery[], at: number): readonly Toolset[] {
  return discoveries.flatMap(({ reading, response }) =>
    reading?.ok && (response?.at ?? 0) <= at ? [reading.toolset] : [],
  );
}

function toolNamed(toolsets: readonly Toolset[], name: string): Tool | null {
  return toolsets.flatMap(({ tools }) => tools).findLast(tool => tool.name === name) ?? null;
}

/** Every request with what became of it, in the order in which they were made. */
export function legsOf(events: readonly Event[]): readonly Leg[] {
  const ends = endsOf(events);
  return events.flatMap(event => {
    if (event.kind !== 'request') return [];
    const end = ends.get(event.leg);
    return [
      {
        request: event,
        response: end?.kind === 'response' ? end : null,
        broken: end?.kind === 'broken' ? end : null,
      },
    ];
  });
}

function endsOf(events: readonly Event[]) {
  const ends = new Map<string, Extract<Event, { kind: 'response' | 'broken' }>>();
  for (const event of events)
    if (event.kind === 'response' || event.kind === 'broken') ends.set(event.leg, event);
  return ends;
}

const checkers = new WeakMap<Tool, Promise<ValueChecker>>();

const UNUSABLE: Promise<ValueChecker> = Promise.resolve(() => ({ kind: 'unusable', reason: '' }));

/** How arguments break the tool's `inputSchema`; null where the schema cannot be used. Each schema is compiled once. */
async function checkArguments(tool: Tool, args: unknown): Promise<readonly string[] | null> {
  const known = checkers.get(tool) ?? valueChecker(tool.inputSchema);
  checkers.set(tool, known);
  const check = (await known)(args);
  if (check.kind === 'unusable') {
    checkers.set(tool, UNUSABLE); // what took too long once is not tried for each of a thousand calls
    return null;
  }
  return check.kind === 'valid' ? [] : check.faults.map(({ path, message }) => `${path}: ${message}`);
}

/** By leg, what each callback meant for its call when it came: the fold may forget it later. */
function verdictsOf(events: readonly Event[]): ReadonlyMap<string, Verdict> {
  const history = new History();
  const verdicts = new Map<string, Verdict>();
  for (const event of events) {
    history.apply(event);
    for (const key of event.calls ?? []) keepNewest(verdicts, history.exchanges.get(key));
  }
  return verdicts;
}

function keepNewest(verdicts: Map<string, Verdict>, exchange: Exchange | undefined): void {
  const arrival = exchange?.arrivals.at(-1);
  if (arrival && !verdicts.has(arrival.leg)) verdicts.set(arrival.leg, arrival.verdict);
}

export function callbackOf(leg: Leg, verdict: Verdict | null): CallbackEvidence {
  const { body } = leg.request;
  return { ...leg, reading: body ? readCallback(body.json) : null, verdict };
}

/** Removes the events of probes, which violate runtime rules on purpose. */
export function unprobed(events: readonly Event[]): readonly Event[] {
  const keys = new Set(events.flatMap(event => (isProbe(event) ? (event.calls ?? []) : [])));
  const isProbed = ({ calls = [] }: Event) => calls.length > 0 && calls.every(key => keys.has(key));
  const threads = new Set(events.filter(isProbed).flatMap(({ thread }) => thread ?? []));
  const isOfProbedThread = ({ calls, thread }: Event) =>
    calls === undefined && thread !== undefined && threads.has(thread);
  return events.filter(event => !isProbed(event) && !isOfProbedThread(event));
}

/** Whether it says what a probe is about to do. */
export function isProbe(event: Event): boolean {
  return event.kind === 'planned' && event.by === 'probe';
}

/** The operations that a check was offered and has not called, each once; none where no check was made. */
export function notCalled(events: readonly Event[]): readonly string[] {
  const called = new Set(events.map(operationOf));
  const isCheck = events.some(isProbe);
  const offered = events.flatMap(event => (event.kind === 'loaded' ? event.operations : []));
  return isCheck ? [...new Set(offered)].filter(name => !called.has(name)) : [];
}

function operationOf(event: Event): unknown {
  const body = event.kind === 'request' && event.purpose === 'invocation' ? event.body : undefined;
  return body?.json.ok ? valueAt(body.json.value, 'operation') : undefined;
}

/** The calls that were made, each with what belongs to it. */
export async function callsOf(
  events: readonly Event[],
  legs: readonly Leg[],
  discoveries: readonly Discovery[],
): Promise<readonly CallEvidence[]> {
  const verdicts = verdictsOf(events);
  const legsByCall = grouped(legs, keysOf);
  const eventsByCall = grouped(events, event => event.calls);
  const closes = grouped(legs, closedThread);
  const begun = [...legsByCall].filter(([, own]) => own.some(isInvocation));
  return Promise.all(
    begun.map(async ([key, own]) => {
      const of = (purpose: Leg['request']['purpose']) =>
        own.filter(({ request }) => request.purpose === purpose);
      const happened = eventsByCall.get(key) ?? [];
      const attempts = of('invocation');
      const read = await readingOf(attempts, discoveries);
      return {
        key,
        ...read,
        attempts,
        callbacks: of('callback').map(leg => callbackOf(leg, verdicts.get(leg.request.leg) ?? null)),
        selections: of('choice'),
        cancels: of('cancel'),
        closes: closesAfter(attempts[0], closes.get(threadOf(read.reading) ?? '')),
        plans: happened.filter(event => event.kind === 'planned'),
        expiries: happened.filter(event => event.kind === 'expired'),
        isCutShort: false,
        decisions: happened.filter(event => event.kind === 'decided'),
      };
    }),
  );
}

function isInvocation({ request }: Leg): boolean {
  return request.purpose === 'invocation';
}

const NOTHING = { ok: false, reason: 'it has no body' } as const;

async function readingOf(attempts: readonly Leg[], discoveries: readonly Discovery[]) {
  const [first] = attempts;
  const reading = readInvocation(first?.request.body?.json ?? NOTHING);
  const at = first?.request.at ?? 0;
  const tool = reading.ok ? toolNamed(toolsetsAt(discoveries, at), reading.invocation.operation) : null;
  const argumentFaults = reading.ok && tool ? await checkArguments(tool, reading.invocation.arguments) : null;
  return { reading, tool, argumentFaults };
}

/** A malformed invocation without a call is a call of its own. */
function keysOf({ request }: Leg): readonly string[] {
  const { calls = [], purpose, leg } = request;
  return calls.length === 0 && purpose === 'invocation' ? [leg] : calls;
}

function threadOf(reading: InvocationReading): string | null {
  return reading.ok ? reading.invocation.group_id : null;
}

function closedThread({ request: { purpose, thread } }: Leg): readonly string[] {
  return purpose === 'close' && thread !== undefined ? [thread] : [];
}

/** The first one is enough: a thread that is closed for each of its thousand calls has a million of them. */
function closesAfter(first: Leg | undefined, closes: readonly Leg[] = []): readonly Leg[] {
  const at = indexAfter(first?.request.seq ?? 0, closes);
  return closes.slice(at, at + 1);
}

function grouped<T>(all: readonly T[], namesOf: (one: T) => readonly string[] | undefined) {
  const found = new Map<string, T[]>();
  for (const one of all)
    for (const name of namesOf(one) ?? []) {
      const own = found.get(name);
      if (own) own.push(one);
      else found.set(name, [one]);
    }
  return found;
}
