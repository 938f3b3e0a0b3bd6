import type { Event, EventKind } from '../events/events.js';
import {
  type Attempt,
  type Exchange,
  outcomeOf,
  type Selection,
  type Settlement,
} from '../events/exchange.js';
import type { History, LoadedToolset, UntrackedRequest } from '../events/history.js';
import { shareableArrival } from '../events/shareable.js';
import { bytesText, formatDuration } from '../util/text.js';
import { clipped, counted, type Line, line, quote, say, took } from './line.js';
import { arrivalStep, eventOf, eventWords, type Step, step, stepLine } from './step-arrivals.js';
import { arrivalOf } from './warnings.js';

/**
 * What has happened, in order; a running step comes last.
 * @param latest this many steps from the end, for no more work than they take
 */
export function stepsOf(history: History, { latest = Number.POSITIVE_INFINITY } = {}): Step[] {
  const { exchanges, untracked, toolsets } = history;
  const steps = [
    ...toolsets.map(toolset => loadedStep(history, toolset)),
    ...[...exchanges.values()].flatMap(each => labelledSteps(history, each.key, callSteps(each, latest))),
    ...[...untracked.values()].flatMap(each =>
      labelledSteps(history, each.calls[0], requestSteps(history, each)),
    ),
    ...straySteps(untracked.values()),
  ];
  const order = (a: Step, b: Step) =>
    Number(a.state === 'running') - Number(b.state === 'running') || a.at - b.at;
  return steps.sort(order).slice(-latest);
}

/**
 * The steps that an event ends; the history has it already. All events one after the other give what {@link stepsOf} gives, at a price
 * that does not grow with what came before.
 * @param isPrivate only the user sees them; else URLs that give power are cut
 * @param isOfMany there are several calls, though the history may not have them yet
 */
export function newStepsOf(
  history: History,
  event: Event,
  { isPrivate = true, isOfMany = history.exchanges.size > 1 } = {},
): Step[] {
  const toolset = event.kind === 'loaded' ? history.toolsets.at(-1) : undefined;
  const ofCalls = concernedCalls(history, event).flatMap(key => {
    const exchange = history.exchanges.get(key);
    return exchange ? labelledSteps(history, key, newCallSteps(exchange, event, isPrivate), isOfMany) : [];
  });
  return [
    ...(toolset ? [loadedStep(history, toolset)] : []),
    ...ofCalls,
    ...newRequestSteps(history, event, isOfMany),
  ];
}

/** Keys of calls. The notice that a thread is closed concerns all of its calls. */
function concernedCalls({ threads }: History, event: Event): readonly string[] {
  const isClose = event.kind === 'request' && event.purpose === 'close';
  const thread = isClose && event.thread !== undefined ? threads.get(event.thread) : undefined;
  return thread?.calls ?? event.calls ?? [];
}

/** Steps with the id of their call, where there are several calls. */
export function labelledSteps(
  { exchanges }: History,
  key: string | undefined,
  steps: Step[],
  isOfMany = exchanges.size > 1,
): Step[] {
  const exchange = key === undefined || !isOfMany ? undefined : exchanges.get(key);
  if (!exchange) return steps;
  const label = [...clipped(exchange.invocation.id, 'dim'), say(': ', 'dim')];
  return steps.map(each => ({
    ...each,
    line: [...label, ...each.line],
    ...(each.lines && { lines: each.lines.with(0, [...label, ...(each.lines[0] ?? [])]) }),
  }));
}

/** Discovery, once its toolset is loaded. */
function loadedStep({ untracked }: History, { at, name, base, operations }: LoadedToolset): Step {
  const asked = [...untracked.values()].find(({ purpose }) => purpose === 'discovery');
  const where = base !== null && line` at ${quote(base)}`;
  const count = counted(operations.length, 'operation');
  const time = took(at - (asked?.at ?? 0), 'in');
  return step(`loaded:${at}`, at, 'done', line`discovered ${quote(name, 'title')} (${count})${where}${time}`);
}

/** A call: its dispatches, the latest callbacks, and how it ended or what it waits for. */
function callSteps(exchange: Exchange, latest: number): Step[] {
  const { attempts, selections } = exchange;
  return [
    ...attempts.flatMap(attempt => [sentStep(exchange, attempt), ...answerSteps(exchange, attempt)]),
    ...arrivalSteps(exchange, latest),
    ...selections.map(selection => selectionStep(exchange, selection)),
    ...endSteps(exchange),
    ...unsubscribedSteps(exchange),
    ...waitingSteps(exchange),
  ];
}

type NewSteps<Kind extends EventKind> = (
  exchange: Exchange,
  event: Extract<Event, { kind: Kind }>,
  isPrivate: boolean,
) => Step[];

/** What an event adds to the steps of a call that has it already; null for nothing. */
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
};

function newCallSteps(exchange: Exchange, event: Event, isPrivate: boolean): Step[] {
  const stepsFor = NEW_STEPS[event.kind] as NewSteps<EventKind> | null;
  return stepsFor?.(exchange, event, isPrivate) ?? [];
}

function attemptsOf({ attempts }: Exchange, leg: string): Attempt[] {
  return attempts.filter(attempt => attempt.leg === leg);
}

/** Without an end that a result has brought before. */
function endsAt(exchange: Exchange, at: number): Step[] {
  const isByResult = exchange.settled?.by === 'result' || exchange.settled?.by === 'answer';
  const ends = [...(isByResult ? [] : endSteps(exchange)), ...unsubscribedSteps(exchange)];
  return ends.filter(end => end.at === at);
}

/** A dispatch of the invocation. */
function sentStep({ invocation, endpoint, attempts, shown }: Exchange, { leg, sentAt }: Attempt): Step {
  const index = attempts.findIndex(attempt => attempt.leg === leg);
  const again = index > 0 ? ` again (attempt ${index + 1})` : '';
  const operation = quote(invocation.operation, 'title');
  const words = line`sent${again} ${operation}${shown !== undefined && line` (${shown})`} to ${quote(endpoint)}`;
  return step(`sent:${leg}`, sentAt, 'done', words);
}

/** The end of a dispatch. */
function answerSteps({ dialect, settled }: Exchange, attempt: Attempt): Step[] {
  const { leg, sentAt, endedAt, status, broken, bodySize = 0 } = attempt;
  if (endedAt === undefined) return [];
  const answer = (state: Step['state'], words: Line) => [
    step(`answer:${leg}`, endedAt, state, [...words, took(endedAt - sentAt)]),
  ];
  if (settled?.by === 'answer') return answer('done', line`result`);
  if (dialect === 'mcp' && broken) {
    const isOurs = settled?.by === 'cancel' || settled?.by === 'timeout';
    return isOurs ? [] : answer('failed', line`not answered: ${quote(broken.code)}`);
  }
  if (status === undefined)
    return answer('failed', line`not acknowledged: ${quote(broken?.code ?? 'broken')}`);
  if (status !== 200) return answer('failed', line`answered ${status} instead of 200`);
  return answer(
    'done',
    line`acknowledged with 200${bodySize > 0 && ` and a body of ${bytesText(bodySize)}`}`,
  );
}

/** How a call ended, where its result or the answer to its last dispatch does not say so. */
function endSteps(exchange: Exchange): Step[] {
  const { settled, key } = exchange;
  const words = settled && endWords(exchange, settled);
  return words ? [step(`end:${key}`, settled.at, 'failed', words)] : [];
}

function endWords(exchange: Exchange, settled: Settlement): Line | null {
  switch (settled.by) {
    case 'result':
    case 'answer': {
      const outcome = outcomeOf(exchange);
      const isFine = outcome === null || outcome.type === 'success';
      return isFine ? null : line`outcome ${outcome.type} (${basisWords(outcome.basis)})`;
    }
    case 'timeout':
      return line`timed out after ${formatDuration(settled.afterMs)}`;
    case 'denial': {
      const why = settled.who === 'person' ? 'declined by you' : settled.reason;
      return line`${quote(settled.tool, 'title')} was not called: ${why}`;
    }
    case 'cancel':
      return line`${cancelText(exchange, settled)}`;
    case 'refusal':
    case 'unreachable':
      return null;
  }
}

/** Why a pending call was canceled: the user interrupted it, or a question of the tool could not be answered. */
export function cancelText(
  { questions }: Pick<Exchange, 'questions'>,
  { who }: Extract<Settlement, { by: 'cancel' }>,
): string {
  if (who === 'person') return 'interrupted';
  const isAsked = questions.some(({ message, isAnswered }) => message.type === 'user_choice' && !isAnswered);
  return isAsked ? 'canceled: its question was not answered' : 'canceled';
}

/** How an outcome is known; an unknown basis is shown unchanged. */
export function basisWords(basis: string): string {
  return { convention: 'by convention', ours: 'local' }[basis] ?? basis;
}

/** What a pending call waits for. */
function waitingSteps({ settled, waitingFor, attempts, key, dialect }: Exchange): Step[] {
  if (settled !== null) return [];
  const last = attempts.at(-1);
  const isSent = dialect !== 'mcp' && last !== undefined && last.endedAt === undefined;
  const what = isSent ? 'the acknowledgement' : 'the result';
  const since = last?.endedAt ?? last?.sentAt ?? 0;
  return [step(`end:${key}`, since, 'running', [say(`waiting for ${waitingFor ? 'you' : what}`)])];
}

/** The end of a subscription without a final event. */
function unsubscribedSteps({ key, subscription }: Exchange): Step[] {
  const { ended = null, events = 0 } = subscription ?? {};
  if (ended === null || ended.by === 'final') return [];
  const how = ended.by === 'cancel' ? 'canceled' : 'closed with its thread';
  const words = line`the subscription was ${how}, after ${counted(events, 'event')}`;
  return [step(`unsubscribed:${key}`, ended.at, 'note', words)];
}

/** An event of a subscription that counts (RT-SUB). */
export interface News {
  /** For the human, as a step. */
  readonly told: Line;
  /** For the LLM, whole. */
  readonly text: string;
  /** Above the text: which event it is, into which conversation it goes, and when it arrived. */
  readonly heading: Line;
}

/** The event of a subscription that has just arrived; else null. @param history that has it already */
export function newsIn(history: History, event: Event): News | null {
  const { exchange, arrival } = (event.kind === 'request' && arrivalOf(history, event)) || {};
  const message = arrival && eventOf(arrival);
  if (!exchange || !message) return null;
  const number = exchange.subscription?.events ?? 0;
  const after = formatDuration(event.at - (exchange.attempts[0]?.sentAt ?? event.at));
  return {
    told: stepLine(arrivalStep(exchange, arrival, number)),
    text: message.text,
    heading: [say('• ', 'warn'), say(`${eventWords(message, number)} after ${after}`, 'dim')],
  };
}

const PICKED: Readonly<Record<Selection['by'], string>> = {
  person: 'you picked',
  flag: '--choose picked',
  policy: 'the policy picked',
};

/** The choice that was picked, and by whom. */
function selectionStep(exchange: Exchange, { at, by, selected, question }: Selection): Step {
  const asked = exchange.questions.find(({ leg }) => leg === question)?.message;
  const { choices = [], default: preset } = asked?.type === 'user_choice' ? asked : {};
  const label = clipped(choices[selected] ?? '', 'title');
  const words = line`${PICKED[by]} ${selected} ${label}${selected === preset && ' (the default)'}`;
  return step(`selection:${exchange.key}:${question}`, at, 'done', words);
}

/** The latest callbacks for a call, and how many earlier ones were dropped. */
function arrivalSteps(exchange: Exchange, latest: number): Step[] {
  const { key, arrivals, forgotten } = exchange;
  let number = exchange.subscription?.events ?? 0;
  const steps = arrivals
    .slice(-latest)
    .toReversed()
    .map(arrival => arrivalStep(exchange, arrival, eventOf(arrival) ? number-- : number))
    .reverse();
  // Results and questions are kept; the others are later than what was dropped.
  const first = arrivals.find(({ verdict: { kind } }) => kind !== 'settles' && kind !== 'holds');
  if (forgotten === 0 || !first) return steps;
  return [
    step(`forgotten:${key}`, first.at, 'note', line`${forgotten} earlier callbacks were dropped`),
    ...steps,
  ];
}

function newArrivalSteps(exchange: Exchange, leg: string, isPrivate: boolean): Step[] {
  const arrival = exchange.arrivals.findLast(each => each.leg === leg);
  if (!arrival) return [];
  const shown = isPrivate ? arrival : shareableArrival(arrival);
  const told = arrivalStep(exchange, shown, exchange.subscription?.events ?? 0);
  return arrival.verdict.kind === 'settles' ? [told, ...endSteps(exchange)] : [told];
}

type RequestSteps = (request: UntrackedRequest, endedAt: number, history: History) => Step[];

/** Requests that are no part of a call, once they have ended. A purpose that is not here has no step. */
const REQUEST_STEPS: Readonly<Partial<Record<UntrackedRequest['purpose'], RequestSteps>>> = {
  discovery({ leg, url, at, status, broken }, endedAt) {
    // A discovery that succeeded is shown by the toolset that was loaded.
    if (status === 200) return [];
    const answer = status === undefined ? `unreachable: ${broken ?? 'broken'}` : `answered ${status}`;
    return [step(`request:${leg}`, endedAt, 'failed', line`${quote(url)} ${answer}${took(endedAt - at)}`)];
  },
  choice({ leg, calls, at, status, broken }, endedAt, history) {
    const time = took(endedAt - at);
    const end = (state: Step['state'], words: Line) => [step(`request:${leg}`, endedAt, state, words)];
    if (status === 200) return end('done', line`selection sent, answered 200${time}`);
    const why = status === undefined ? (broken ?? 'not answered') : `answered ${status} instead of 200`;
    // The tool goes on waiting for the selection, and so does the call.
    const isPending = calls.some(key => (history.exchanges.get(key)?.settled?.at ?? Infinity) > endedAt);
    return end(
      'failed',
      line`could not send the selection: ${why}${time}${isPending && '; the call stays pending'}`,
    );
  },
  close: noticeSteps('thread closed'),
  cancel: noticeSteps('call canceled'),
};

function noticeSteps(what: string): RequestSteps {
  return ({ leg, at, status }, endedAt) => {
    const answer = status === undefined ? 'not answered' : `answered ${status}`;
    const words = line`${what}, ${answer}${took(endedAt - at)}`;
    return [step(`request:${leg}`, endedAt, status === 200 ? 'done' : 'note', words)];
  };
}

function requestSteps(history: History, request: UntrackedRequest): Step[] {
  const { purpose, leg, at, url, endedAt } = request;
  if (endedAt !== undefined) return REQUEST_STEPS[purpose]?.(request, endedAt, history) ?? [];
  if (purpose !== 'discovery') return [];
  // The endpoint of a started server names its program.
  const program = /^stdio:(.*)$/.exec(url)?.[1];
  const words = program === undefined ? line`asking ${quote(url)}` : line`starting ${quote(program)}`;
  return [step(`request:${leg}`, at, 'running', words)];
}

function newRequestSteps(history: History, event: Event, isOfMany: boolean): Step[] {
  const request =
    event.kind === 'response' || event.kind === 'broken' ? history.untracked.get(event.leg) : undefined;
  if (!request) return [];
  const steps = labelledSteps(history, request.calls[0], requestSteps(history, request), isOfMany);
  return isFirstOfItsKind(history.untracked.values(), request) ? [...steps, ...straySteps([request])] : steps;
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

/** Requests that reached the listener but no call: one step for each reason. */
export function straySteps(untracked: Iterable<UntrackedRequest>): Step[] {
  const firsts = new Map<string, UntrackedRequest>();
  for (const request of untracked) {
    const { refusal = '' } = request;
    if (isStray(request) && !firsts.has(refusal)) firsts.set(refusal, request);
  }
  return [...firsts].map(([refusal, { at, status }]) => {
    const words =
      refusal === 'wrong-address'
        ? line`a POST to a wrong callback URL, answered 404`
        : line`a request to the callback listener, refused with ${status}: ${quote(refusal)}`;
    return step(`stray:${refusal}`, at, 'failed', words);
  });
}
