import type { Event, EventKind, EventOf } from '../events/events.js';
import { type Attempt, type Exchange, outcomeOf, type Settlement } from '../events/exchange.js';
import type { History } from '../events/history.js';
import { shareableArrival } from '../events/shareable.js';
import type { UntrackedRequest } from '../events/untracked-requests.js';
import { bytesText, formatDuration } from '../util/text.js';
import { arrivalOf, arrivalStep, type Step } from './callbacks.js';
import { NOT_FROM_THE_TOOL } from './calls.js';
import { settlementText } from './failure.js';
import { clipped, type Line, line, pluralize, quote, say, took, withMark } from './line.js';
import { refusedText } from './warnings.js';

type Words = readonly [Step['state'], Line];

function step(key: string, at: number, [state, words]: Words): Step {
  return { key, at, state, lines: [words] };
}

/** A step with its mark, on all of its lines. */
export function stepLines({ state, lines }: Step): readonly Line[] {
  return lines.map((each, index) => (index === 0 ? withMark(state, each) : [say('  '), ...each]));
}

/** Maximum number of lines that are joined into one. */
const JOINED = 21;

/** A step with its mark on one line; a running step also shows its duration until `now` (ms since the start). */
export function stepLine(step: Step, now?: number): Line {
  const { state, lines, at } = step;
  const isRunning = state === 'running' && now !== undefined;
  const more = lines.length > JOINED && say(`  and ${lines.length - JOINED} more`, 'dim');
  const time = isRunning && say(` ${formatDuration(Math.max(0, now - at))}`, 'dim');
  // A gutter in the middle would indent the rows after it.
  const words = stepLines(step).slice(0, JOINED).flat();
  return line`${words.map(span => (span.tone === 'gutter' ? say(span.text, 'dim') : span))}${more}${time}`;
}

/** Collects the steps of a conversation from its events. */
export class StepLog {
  readonly #steps: Step[] = [];

  /** @param max number of steps kept; unlimited for files */
  constructor(
    private readonly history: History,
    private readonly max = Number.POSITIVE_INFINITY,
  ) {}

  /** @param event already in the history */
  add(event: Event): void {
    for (const each of newStepsOf(this.history, event)) this.#steps.push(each);
    if (event.kind !== 'request') this.#showAnswer(event);
    if (this.#steps.length > 2 * this.max) this.#steps.splice(0, this.max);
  }

  /** The steps that ended. */
  get ended(): readonly Step[] {
    return this.#steps;
  }

  /** The last `count` steps; running ones come last. */
  latest(count: number): readonly Step[] {
    return [...this.#steps, ...runningSteps(this.history)].slice(-count);
  }

  /** Updates the step of a callback when its recorded answer arrives. */
  #showAnswer(event: Event): void {
    const { exchange, arrival } = arrivalOf(this.history, event) ?? {};
    if (!exchange || !arrival || arrival.status === arrival.verdict.status) return;
    const step = arrivalStep(exchange, arrival);
    const index = this.#steps.findLastIndex(({ key }) => key === step.key);
    if (index >= 0) this.#steps.splice(index, 1, ...labelledSteps(this.history, exchange.key, [step]));
  }
}

interface StepOptions {
  /** Only the user sees the steps; otherwise URLs that grant access are cut. */
  readonly isPrivate?: boolean;
  /** There are several calls, even if the history does not have them yet. */
  readonly isOfMany?: boolean;
}

/** The steps that an event completes; the history must have the event. The cost does not grow with the history. */
export function newStepsOf(
  history: History,
  event: Event,
  { isPrivate = true, isOfMany = history.exchanges.size > 1 }: StepOptions = {},
): Step[] {
  const stepsFor = NEW_STEPS[event.kind] as NewSteps<EventKind> | null;
  const ofCalls = concernedKeys(history, event).flatMap(key => {
    const exchange = history.exchanges.get(key);
    const steps = exchange && stepsFor?.(exchange, event, isPrivate);
    return steps ? labelledSteps(history, key, steps, isOfMany) : [];
  });
  return [
    ...(event.kind === 'loaded' ? [loadedStep(history, event)] : []),
    ...ofCalls,
    ...newRequestSteps(history, event, isOfMany),
  ];
}

/** The keys of the calls that an event concerns. Closing a thread concerns all of its calls. */
function concernedKeys({ threads }: History, event: Event): readonly string[] {
  const isClose = event.kind === 'request' && event.purpose === 'close';
  const thread = isClose && event.thread !== undefined ? threads.get(event.thread) : undefined;
  return thread?.calls ?? event.calls ?? [];
}

/** Adds the id of the call to its steps if there are several calls. */
function labelledSteps(
  { exchanges }: History,
  key: string | undefined,
  steps: Step[],
  isOfMany = exchanges.size > 1,
): Step[] {
  const exchange = key === undefined || !isOfMany ? undefined : exchanges.get(key);
  if (!exchange) return steps;
  const label = [...clipped(exchange.invocation.id, 'dim'), say(': ', 'dim')];
  return steps.map(each => ({ ...each, lines: each.lines.with(0, [...label, ...(each.lines[0] ?? [])]) }));
}

/** The steps in progress: a discovery, and what each pending call waits for. */
export function runningSteps(history: History): Step[] {
  const { exchanges, untracked } = history;
  return [
    ...openDiscoveries(untracked.values()).map(discoveringStep),
    ...[...exchanges.values()].filter(isPending).flatMap(each => {
      const words = line`waiting for ${each.waitingFor ? 'you' : `the ${missingPart(each)}`}`;
      return labelledSteps(history, each.key, [
        step(`end:${each.key}`, waitingSince(each), ['running', words]),
      ]);
    }),
  ].sort((one, other) => one.at - other.at);
}

/** What the recording of a conversation does not have: the answer to a discovery, and the end of each call. @param at of its last event */
export function missingSteps(history: History, at: number): Step[] {
  const { exchanges, untracked } = history;
  const missing = (key: string, what: Line) => step(key, at, ['failed', line`no ${what} in this recording`]);
  return [
    ...openDiscoveries(untracked.values()).map(({ leg, url }) =>
      missing(`request:${leg}`, line`answer from ${quote(url)}`),
    ),
    ...[...exchanges.values()].filter(isPending).flatMap(each => {
      const what = each.waitingFor ? 'answer to the question' : missingPart(each);
      return labelledSteps(history, each.key, [missing(`end:${each.key}`, [say(what)])]);
    }),
  ];
}

function openDiscoveries(untracked: Iterable<UntrackedRequest>): UntrackedRequest[] {
  return [...untracked].filter(({ purpose, endedAt }) => purpose === 'discovery' && endedAt === undefined);
}

function discoveringStep({ leg, at, url }: UntrackedRequest): Step {
  // The endpoint of a server started here contains its command.
  const program = /^stdio:(.*)$/.exec(url)?.[1];
  const words = program === undefined ? line`asking ${quote(url)}` : line`starting ${quote(program)}`;
  return step(`request:${leg}`, at, ['running', words]);
}

function isPending({ settled }: Exchange): boolean {
  return settled === null;
}

function missingPart({ attempts, dialect }: Exchange): 'acknowledgement' | 'result' {
  const last = attempts.at(-1);
  return dialect !== 'mcp' && last !== undefined && last.endedAt === undefined ? 'acknowledgement' : 'result';
}

function waitingSince({ attempts }: Exchange): number {
  const last = attempts.at(-1);
  return last?.endedAt ?? last?.sentAt ?? 0;
}

/** The step of a discovery whose toolset was loaded. */
function loadedStep(history: History, event: EventOf<'loaded'>): Step {
  const { at, toolset, base, operations } = event;
  const where = base !== null && line` at ${quote(base)}`;
  const count = pluralize(operations.length, 'operation');
  const begunAt = discoveryBegunAt(history, event);
  const time = begunAt !== null && took(at - begunAt, 'in');
  return step(`loaded:${at}`, at, [
    'done',
    line`discovered ${quote(toolset, 'title')} (${count})${where}${time}`,
  ]);
}

/**
 * When the discovery of a toolset began: of the latest one that succeeded, since a toolset is loaded as soon as its document arrives.
 * Without one, as with MCP servers, whose requests are in no history, the first toolset took the whole time; null for later ones.
 */
function discoveryBegunAt({ untracked, toolsets }: History, { base }: EventOf<'loaded'>): number | null {
  const [latest] = base === null ? [] : untracked.values().filter(isSuccessfulDiscovery).sort(byLatestEnd);
  if (latest) return latest.at;
  return toolsets.length > 1 ? null : 0;
}

function isSuccessfulDiscovery({ purpose, status }: UntrackedRequest): boolean {
  return purpose === 'discovery' && status === 200;
}

function byLatestEnd(one: UntrackedRequest, other: UntrackedRequest): number {
  return (other.endedAt ?? 0) - (one.endedAt ?? 0);
}

type NewSteps<Kind extends EventKind> = (
  exchange: Exchange,
  event: EventOf<Kind>,
  isPrivate: boolean,
) => Step[];

/** The steps that an event adds to a call; null for none. The call must have the event. */
const NEW_STEPS: { readonly [Kind in EventKind]: NewSteps<Kind> | null } = {
  request(exchange, { purpose, leg, at }, isPrivate) {
    if (purpose === 'invocation')
      return attemptsOf(exchange, leg).map(attempt => sentStep(exchange, attempt));
    if (purpose === 'callback') return newArrivalSteps(exchange, leg, isPrivate);
    const isEnd = purpose === 'close' || purpose === 'cancel';
    return isEnd ? unsubscribedSteps(exchange).filter(end => end.at === at) : [];
  },
  response(exchange, { leg, refusal }, isPrivate) {
    if (refusal !== undefined) return newArrivalSteps(exchange, leg, isPrivate);
    const attempts = attemptsOf(exchange, leg);
    const isResult = exchange.settled?.by === 'answer' && attempts.length > 0;
    const answers = attempts.flatMap(attempt => answerSteps(exchange, attempt));
    return [...answers, ...(isResult ? endSteps(exchange) : [])];
  },
  broken: (exchange, { leg }) => attemptsOf(exchange, leg).flatMap(attempt => answerSteps(exchange, attempt)),
  decided(exchange, { what, at }) {
    if (what !== 'choice') return endsAt(exchange, at);
    const latest = exchange.selections.slice(-1).filter(selection => selection.at === at);
    return latest.map(selection => selectionStep(exchange, selection));
  },
  expired: (exchange, { what, at }) => (what === 'timeout' ? endsAt(exchange, at) : []),
  denied: (exchange, { at }) => endsAt(exchange, at),
  loaded: null,
  expected: null,
  matched: null,
  shaped: null,
  planned: null,
  warned: null,
  dropped: null,
  session: null,
  awaiting: null,
  answered: null,
  driver: null,
  exited: null,
};

function attemptsOf({ attempts }: Exchange, leg: string): Attempt[] {
  return attempts.filter(attempt => attempt.leg === leg);
}

/** The end of a call, unless its result already showed it. */
function endsAt(exchange: Exchange, at: number): Step[] {
  const isByResult = exchange.settled?.by === 'result' || exchange.settled?.by === 'answer';
  const ends = [...(isByResult ? [] : endSteps(exchange)), ...unsubscribedSteps(exchange)];
  return ends.filter(end => end.at === at);
}

function sentStep({ invocation, endpoint, attempts }: Exchange, { leg, sentAt }: Attempt): Step {
  const index = attempts.findIndex(attempt => attempt.leg === leg);
  const again = index > 0 ? ` again (attempt ${index + 1})` : '';
  const operation = quote(invocation.operation, 'title');
  const words = line`sent${again} ${operation} to ${quote(endpoint)}`;
  return step(`sent:${leg}`, sentAt, ['done', words]);
}

function answerSteps(exchange: Exchange, attempt: Attempt): Step[] {
  const { leg, sentAt, endedAt } = attempt;
  const answer = endedAt === undefined ? null : answerWords(exchange, attempt);
  if (endedAt === undefined || answer === null) return [];
  const [state, words] = answer;
  return [step(`answer:${leg}`, endedAt, [state, [...words, took(endedAt - sentAt)]])];
}

function answerWords(
  { dialect, settled }: Exchange,
  { status, broken, bodySize = 0 }: Attempt,
): Words | null {
  if (settled?.by === 'answer') return ['done', line`result`];
  if (dialect === 'mcp' && broken) {
    const isOurs = settled?.by === 'cancel' || settled?.by === 'timeout';
    return isOurs ? null : ['failed', line`not answered: ${quote(broken.code)}`];
  }
  if (status === undefined) return ['failed', line`not acknowledged: ${quote(broken?.code ?? 'broken')}`];
  if (status !== 200) return ['failed', line`answered ${status} instead of 200`];
  return ['done', line`acknowledged with 200${bodySize > 0 && ` and a body of ${bytesText(bodySize)}`}`];
}

/** How a call ended, unless its result or the answer to its last dispatch shows it. */
function endSteps(exchange: Exchange): Step[] {
  const { settled, key } = exchange;
  const words = settled && endWords(exchange, settled);
  return words ? [step(`end:${key}`, settled.at, ['failed', words])] : [];
}

function endWords(exchange: Exchange, settled: Settlement): Line | null {
  if (settled.by === 'refusal' || settled.by === 'unreachable') return null;
  if (settled.by !== 'result' && settled.by !== 'answer') return quote(settlementText(settled));
  const outcome = outcomeOf(exchange);
  const isFine = outcome === null || outcome.type === 'success';
  return isFine ? null : line`outcome ${outcome.type} (${basisLine(outcome.basis)})`;
}

/** The basis of an outcome; an unknown basis is shown unchanged. */
export function basisLine(basis: string): string {
  return { convention: 'by convention', ours: NOT_FROM_THE_TOOL }[basis] ?? basis;
}

/** The end of a subscription without a final event. */
function unsubscribedSteps({ key, subscription }: Exchange): Step[] {
  const { ended = null, events = 0 } = subscription ?? {};
  if (ended === null || ended.by === 'final') return [];
  const how = ended.by === 'cancel' ? 'canceled' : 'closed with its thread';
  const words = line`the subscription was ${how}, after ${pluralize(events, 'event')}`;
  return [step(`unsubscribed:${key}`, ended.at, ['note', words])];
}

type Selection = Exchange['selections'][number];

const PICKED: Readonly<Record<Selection['by'], string>> = {
  person: 'you picked',
  flag: '--choose picked',
  policy: 'the policy picked',
};

/** The selected choice, and who selected it. */
function selectionStep(exchange: Exchange, { at, by, selected, question }: Selection): Step {
  const asked = exchange.questions.find(({ leg }) => leg === question)?.message;
  const { choices = [], default: preset } = asked?.type === 'user_choice' ? asked : {};
  const label = clipped(choices[selected] ?? '', 'title');
  const words = line`${PICKED[by]} ${selected} ${label}${selected === preset && ' (the default)'}`;
  return step(`selection:${exchange.key}:${question}`, at, ['done', words]);
}

function newArrivalSteps(exchange: Exchange, leg: string, isPrivate: boolean): Step[] {
  const arrival = exchange.arrivals.findLast(each => each.leg === leg);
  if (!arrival) return [];
  const step = arrivalStep(exchange, isPrivate ? arrival : shareableArrival(arrival));
  return arrival.verdict.kind === 'settles' ? [step, ...endSteps(exchange)] : [step];
}

type RequestWords = (request: UntrackedRequest, endedAt: number, history: History) => Words | null;

/** The steps of finished requests outside of calls. Other purposes have no step. */
const REQUESTS: Readonly<Partial<Record<UntrackedRequest['purpose'], RequestWords>>> = {
  discovery({ url, at, status, broken }, endedAt) {
    // The step of the loaded toolset shows a successful discovery.
    if (status === 200) return null;
    const answer = status === undefined ? `unreachable: ${broken ?? 'broken'}` : `answered ${status}`;
    return ['failed', line`${quote(url)} ${answer}${took(endedAt - at)}`];
  },
  choice({ calls, at, status, broken }, endedAt, history) {
    const time = took(endedAt - at);
    if (status === 200) return ['done', line`selection sent, answered 200${time}`];
    const why = status === undefined ? (broken ?? 'not answered') : `answered ${status} instead of 200`;
    // The tool still waits for the selection, so the call stays pending.
    const isPending = calls.some(key => (history.exchanges.get(key)?.settled?.at ?? Infinity) > endedAt);
    const words = line`could not send the selection: ${why}${time}${isPending && '; the call stays pending'}`;
    return ['failed', words];
  },
  close: noticeWords('thread closed'),
  cancel: noticeWords('call canceled'),
};

function noticeWords(what: string): RequestWords {
  return ({ at, status }, endedAt) => {
    const answer = status === undefined ? 'not answered' : `answered ${status}`;
    return [status === 200 ? 'done' : 'note', line`${what}, ${answer}${took(endedAt - at)}`];
  };
}

function newRequestSteps(history: History, event: Event, isOfMany: boolean): Step[] {
  const isEnd = event.kind === 'response' || event.kind === 'broken';
  const request = isEnd ? history.untracked.get(event.leg) : undefined;
  if (!request) return [];
  const { leg, endedAt = 0, purpose } = request;
  const words = REQUESTS[purpose]?.(request, endedAt, history);
  const steps = words ? [step(`request:${leg}`, endedAt, words)] : [];
  const isNew = isFirstOfItsKind(history.untracked.values(), request);
  return [
    ...labelledSteps(history, request.calls[0], steps, isOfMany),
    ...(isNew ? [step(`stray:${leg}`, request.at, ['failed', strayRequestLine(request)])] : []),
  ];
}

function strayRequestLine(request: UntrackedRequest): Line {
  const isLost = request.refusal === 'wrong-address';
  return isLost ? line`a POST to a wrong callback URL, answered 404` : quote(refusedText(request));
}

function isStray({ purpose, status }: UntrackedRequest): boolean {
  return purpose === 'callback' && status !== undefined;
}

function isFirstOfItsKind(untracked: Iterable<UntrackedRequest>, request: UntrackedRequest): boolean {
  if (!isStray(request)) return false;
  for (const other of untracked)
    if (other !== request && isStray(other) && other.refusal === request.refusal) return false;
  return true;
}
