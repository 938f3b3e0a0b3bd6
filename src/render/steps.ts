import type { Event } from '../events/events.js';
import { type Arrival, type Attempt, type Exchange, outcomeOf, type Settlement } from '../events/exchange.js';
import type { Errand, History, LoadedToolset } from '../events/history.js';
import { shareableArrival } from '../events/shareable.js';
import { formatDuration } from '../util/format-duration.js';
import { bytesText } from '../util/json-diagnosis.js';
import { basisWords, cancelText } from './given-up.js';
import { clipped, type Line, quote, type Span, say } from './line.js';
import { after, arrivalStep, arrivalSteps, type Step, selectionStep, step, within } from './step-arrivals.js';
import { eventOf, eventWords } from './steps/events.js';
import { arrivalOf } from './warnings.js';

/** A dispatch of the invocation. */
function sentStep({ invocation, endpoint, attempts, shown }: Exchange, { leg, sentAt }: Attempt): Step {
  const index = attempts.findIndex(attempt => attempt.leg === leg);
  const again = index > 0 ? ` again (attempt ${index + 1})` : '';
  return step(
    `sent:${leg}`,
    sentAt,
    'done',
    say(`sent${again} `),
    ...quote(invocation.operation, 'title'),
    ...(shown === undefined ? [] : [say(' ('), ...clipped(shown), say(')')]),
    say(' to '),
    ...quote(endpoint),
  );
}

/** What became of a dispatch, once that is known. */
function answerSteps(
  { dialect, settled }: Exchange,
  { leg, sentAt, endedAt, status, broken, bodySize = 0 }: Attempt,
): Step[] {
  if (endedAt === undefined) return [];
  const took = after(endedAt - sentAt);
  const key = `answer:${leg}`;
  if (settled?.by === 'answer') return [step(key, endedAt, 'done', say('result'), took)];
  if (dialect === 'mcp' && broken) {
    const isOurs = settled?.by === 'cancel' || settled?.by === 'timeout';
    return isOurs ? [] : [step(key, endedAt, 'failed', say('not answered: '), ...quote(broken.code), took)];
  }
  if (status === 200) {
    const body = bodySize > 0 ? ` and a body of ${bytesText(bodySize)}` : '';
    return [step(key, endedAt, 'done', say(`acknowledged with 200${body}`), took)];
  }
  const answer =
    status === undefined
      ? [say('not acknowledged: '), ...quote(broken?.code ?? 'broken')]
      : [say(`answered ${status} instead of 200`)];
  return [step(key, endedAt, 'failed', ...answer, took)];
}

/** How the call ended, where its result does not say it already. */
function endSteps(exchange: Exchange): Step[] {
  const { settled, key } = exchange;
  if (settled === null) return [];
  const line = endLine(exchange, settled);
  return line.length === 0 ? [] : [step(`end:${key}`, settled.at, 'failed', ...line)];
}

/** What a pending call waits for. */
function waitingSteps({ settled, waitingFor, attempts, key, dialect }: Exchange): Step[] {
  if (settled !== null) return [];
  const last = attempts.at(-1);
  const isSent = dialect !== 'mcp' && last !== undefined && last.endedAt === undefined;
  const result = isSent ? 'waiting for the acknowledgement' : 'waiting for the result';
  const since = last?.endedAt ?? last?.sentAt ?? 0;
  return [step(`end:${key}`, since, 'running', say(waitingFor ? 'waiting for you' : result))];
}

/** How a subscription ended without a last event. */
function unsubscribedSteps({ key, subscription }: Exchange): Step[] {
  const { ended = null, events = 0 } = subscription ?? {};
  if (ended === null || ended.by === 'final') return [];
  const count = `${events} event${events === 1 ? '' : 's'}`;
  const how = ended.by === 'cancel' ? 'canceled' : 'closed with its thread';
  return [step(`unsubscribed:${key}`, ended.at, 'note', say(`the subscription was ${how}, after ${count}`))];
}

function endLine(exchange: Exchange, settled: Settlement): Line {
  switch (settled.by) {
    case 'result':
    case 'answer': {
      const outcome = outcomeOf(exchange);
      if (outcome === null || outcome.type === 'success') return [];
      return [say(`outcome ${outcome.type} (${basisWords(outcome.basis)})`)];
    }
    case 'timeout':
      return [say(`timed out after ${formatDuration(settled.afterMs)}`)];
    case 'denial': {
      const why = settled.who === 'person' ? [say('declined by you')] : clipped(settled.reason);
      return [...quote(settled.tool, 'title'), say(' was not called: '), ...why];
    }
    case 'cancel':
      return [say(cancelText(exchange, settled))];
    default:
      return []; // the answer to the last dispatch says it
  }
}

/** One call: its dispatch, what came back for it, and how it ended or what it waits for. Of its callbacks only the `latest`. */
function callSteps(exchange: Exchange, latest = Number.POSITIVE_INFINITY): Step[] {
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

/** What an event adds to the story of a call that has it already: as much work however long that story is. */
function newCallSteps(exchange: Exchange, event: Event, isPrivate: boolean): Step[] {
  switch (event.kind) {
    case 'request':
      if (event.purpose === 'invocation')
        return attemptWith(exchange, event.leg).map(each => sentStep(exchange, each));
      if (event.purpose === 'close' || event.purpose === 'cancel')
        return unsubscribedSteps(exchange).filter(({ at }) => at === event.at);
      return event.purpose === 'callback' ? newArrivalSteps(exchange, event.leg, isPrivate) : [];
    case 'broken':
      return newAnswerSteps(exchange, event.leg);
    case 'response':
      if (event.refusal !== undefined) return newArrivalSteps(exchange, event.leg, isPrivate);
      return [...newAnswerSteps(exchange, event.leg), ...endsWith(exchange, event.leg)];
    case 'decided':
      if (event.what === 'choice') return newSelectionSteps(exchange, event.at);
      return endsAt(exchange, event.at);
    case 'expired':
      return event.what === 'timeout' ? endsAt(exchange, event.at) : [];
    case 'denied':
      return endsAt(exchange, event.at);
    default:
      return [];
  }
}

const attemptWith = ({ attempts }: Exchange, leg: string) => attempts.filter(attempt => attempt.leg === leg);

const newAnswerSteps = (exchange: Exchange, leg: string) =>
  attemptWith(exchange, leg).flatMap(attempt => answerSteps(exchange, attempt));

/** Where the response is the result. */
function endsWith(exchange: Exchange, leg: string): Step[] {
  const isAnswer = exchange.settled?.by === 'answer' && attemptWith(exchange, leg).length > 0;
  return isAnswer ? endSteps(exchange) : [];
}

function newArrivalSteps(exchange: Exchange, leg: string, isPrivate: boolean): Step[] {
  const arrival = exchange.arrivals.findLast(each => each.leg === leg);
  if (!arrival) return [];
  const told = arrivalStep(
    exchange,
    isPrivate ? arrival : shareableArrival(arrival),
    exchange.subscription?.events ?? 0,
  );
  return settles(arrival) ? [told, ...endSteps(exchange)] : [told];
}

const settles = ({ verdict }: Arrival) => verdict.kind === 'settles';

function newSelectionSteps(exchange: Exchange, at: number): Step[] {
  const selection = exchange.selections.at(-1);
  return selection?.at === at ? [selectionStep(exchange, selection)] : [];
}

/** An end that an event before it had brought is told already. */
function endsAt(exchange: Exchange, at: number): Step[] {
  const isByResult = exchange.settled?.by === 'result' || exchange.settled?.by === 'answer';
  const ends = [...(isByResult ? [] : endSteps(exchange)), ...unsubscribedSteps(exchange)];
  return ends.filter(end => end.at === at);
}

/** Notices, told once it is known what became of them. */
const NOTICES: Readonly<Partial<Record<Errand['purpose'], string>>> = {
  close: 'thread closed',
  cancel: 'call canceled',
};

/** Discovery while it goes on or where it failed, the user's selection, and notices that went out. */
function errandSteps(history: History, errand: Errand): Step[] {
  const { leg, purpose, at, endedAt, status } = errand;
  if (purpose === 'discovery') return discoverySteps(errand);
  if (endedAt === undefined) return [];
  if (purpose === 'choice') return [errandsSelectionStep(history, errand, endedAt)];
  const notice = NOTICES[purpose];
  if (notice === undefined) return [];
  const answer = status === undefined ? 'not answered' : `answered ${status}`;
  const state = status === 200 ? 'done' : 'note';
  return [step(`errand:${leg}`, endedAt, state, say(`${notice}, ${answer}`), after(endedAt - at))];
}

/** A discovery that went well is told by what was loaded. */
function discoverySteps({ leg, url, at, endedAt, status, broken }: Errand): Step[] {
  const key = `errand:${leg}`;
  if (endedAt === undefined) return [step(key, at, 'running', ...going(url))];
  if (status === 200) return [];
  const answer = status === undefined ? `unreachable: ${broken ?? 'broken'}` : `answered ${status}`;
  return [step(key, endedAt, 'failed', ...quote(url), say(` ${answer}`), after(endedAt - at))];
}

/** A server that is started has no address: its endpoint names its program. */
function going(url: string): Line {
  const program = /^stdio:(.*)$/.exec(url)?.[1];
  return program === undefined ? [say('asking '), ...quote(url)] : [say('starting '), ...quote(program)];
}

/** Where a selection did not arrive, the tool goes on waiting for it, and so does the call. */
function errandsSelectionStep(
  history: History,
  { leg, calls, at, status, broken }: Errand,
  endedAt: number,
): Step {
  const took = after(endedAt - at);
  if (status === 200)
    return step(`errand:${leg}`, endedAt, 'done', say('selection sent, answered 200'), took);
  const why = status === undefined ? (broken ?? 'not answered') : `answered ${status} instead of 200`;
  const isPending = calls.some(key => {
    const { settled = null } = history.exchanges.get(key) ?? {};
    return settled === null || settled.at > endedAt;
  });
  const pending = isPending ? [say('; the call stays pending')] : [];
  return step(
    `errand:${leg}`,
    endedAt,
    'failed',
    say(`could not send the selection: ${why}`),
    took,
    ...pending,
  );
}

/** POSTs that reached the listener but no call: one step for each reason, however many there are. */
export function straySteps(errands: Iterable<Errand>): Step[] {
  const steps = new Map<string, Step>();
  for (const errand of errands)
    if (isStray(errand) && !steps.has(reasonOf(errand))) steps.set(reasonOf(errand), strayStep(errand));
  return [...steps.values()];
}

/** As {@link straySteps}, where this one has just been answered. */
function newStraySteps(errands: Iterable<Errand>, errand: Errand): Step[] {
  if (!isStray(errand)) return [];
  for (const other of errands)
    if (other !== errand && isStray(other) && reasonOf(other) === reasonOf(errand)) return [];
  return [strayStep(errand)];
}

const isStray = ({ purpose, status }: Errand) => purpose === 'callback' && status !== undefined;
const reasonOf = ({ refusal = '' }: Errand) => refusal;

function strayStep(errand: Errand): Step {
  return step(`stray:${reasonOf(errand)}`, errand.at, 'failed', ...stray(errand));
}

function stray({ status, refusal = '' }: Errand): Line {
  if (refusal === 'wrong-address') return [say('a POST to a wrong callback URL, answered 404')];
  return [say(`a request to the callback listener, refused with ${status}: `), ...quote(refusal)];
}

/**
 * Says whose steps they are, where several calls are told of at once.
 * @param isOfMany whether there are several, as far as is known
 */
export function labelled(
  { exchanges }: History,
  key: string | undefined,
  steps: Step[],
  isOfMany = exchanges.size > 1,
): Step[] {
  const exchange = key === undefined || !isOfMany ? undefined : exchanges.get(key);
  if (!exchange) return steps;
  const label = [...clipped(exchange.invocation.id, 'dim'), say(': ', 'dim')];
  return steps.map(step => ({
    ...step,
    line: [...label, ...step.line],
    ...(step.lines && { lines: step.lines.with(0, [...label, ...(step.lines[0] ?? [])]) }),
  }));
}

/** Discovery, told once its toolset is loaded. */
function loadedStep({ errands }: History, { at, name, base, operations }: LoadedToolset): Step {
  const asked = [...errands.values()].find(({ purpose }) => purpose === 'discovery');
  const count = `${operations.length} operation${operations.length === 1 ? '' : 's'}`;
  const where = base === null ? [] : [say(' at '), ...quote(base)];
  return step(
    `loaded:${at}`,
    at,
    'done',
    say('discovered '),
    ...quote(name, 'title'),
    say(` (${count})`),
    ...where,
    within(at - (asked?.at ?? 0)),
  );
}

/**
 * What has happened, in the order in which it did. The last step may be running: its time is still going.
 * @param latest this many steps from the end, and no more work than they make
 */
export function stepsOf(history: History, { latest = Number.POSITIVE_INFINITY } = {}): Step[] {
  const { exchanges, errands, toolsets } = history;
  const steps = [
    ...toolsets.map(toolset => loadedStep(history, toolset)),
    ...[...exchanges.values()].flatMap(each => labelled(history, each.key, callSteps(each, latest))),
    ...[...errands.values()].flatMap(each => labelled(history, each.calls[0], errandSteps(history, each))),
    ...straySteps(errands.values()),
  ];
  return steps.sort(inOrder).slice(-latest);
}

function inOrder(a: Step, b: Step): number {
  return Number(a.state === 'running') - Number(b.state === 'running') || a.at - b.at;
}

/**
 * The steps that an event brings to an end; the history has it already. Told one event after the other they are what `stepsOf` tells
 * at the end, at a price that does not grow with what came before.
 * @param isPrivate whether nobody but the user sees it; else URLs that give power are cut. `isOfMany`: there are several calls, though
 *   the history may not have them yet
 */
export function newStepsOf(
  history: History,
  event: Event,
  { isPrivate = true, isOfMany = history.exchanges.size > 1 } = {},
): Step[] {
  const toolset = event.kind === 'loaded' ? history.toolsets.at(-1) : undefined;
  return [
    ...(toolset ? [loadedStep(history, toolset)] : []),
    ...concerned(history, event).flatMap(key => {
      const exchange = history.exchanges.get(key);
      return exchange ? labelled(history, key, newCallSteps(exchange, event, isPrivate), isOfMany) : [];
    }),
    ...newErrandSteps(history, event, isOfMany),
  ];
}

/** Keys of calls. A notice that a thread is over concerns all of its calls. */
function concerned({ threads }: History, event: Event): readonly string[] {
  const isClose = event.kind === 'request' && event.purpose === 'close';
  const thread = isClose && event.thread !== undefined ? threads.get(event.thread) : undefined;
  return thread?.calls ?? event.calls ?? [];
}

function newErrandSteps(history: History, event: Event, isOfMany: boolean): Step[] {
  if (event.kind !== 'response' && event.kind !== 'broken') return [];
  const errand = history.errands.get(event.leg);
  if (!errand) return [];
  const steps = labelled(history, errand.calls[0], errandSteps(history, errand), isOfMany);
  return [...steps, ...newStraySteps(history.errands.values(), errand)];
}

const MARKS: Readonly<Record<Step['state'], Span>> = {
  done: say('✓', 'good'),
  failed: say('✗', 'bad'),
  note: say('•', 'warn'),
  running: say('…', 'running'),
};

/** A step with its mark, on as many lines as it has. */
export function stepLines({ state, line, lines = [line] }: Step): readonly Line[] {
  return lines.map((each, index) => (index === 0 ? [MARKS[state], say(' '), ...each] : [say('  '), ...each]));
}

/** A step with its mark; where it is running, with the time it has run until `now` (ms since the start). */
export function stepLine(step: Step, now?: number): Line {
  const running =
    step.state === 'running' && now !== undefined
      ? [say(` ${formatDuration(Math.max(0, now - step.at))}`, 'dim')]
      : [];
  return [MARKS[step.state], say(' '), ...step.line, ...running];
}

/** An event of a subscription that counts, for whom it comes to (RT-SUB). */
export interface News {
  /** For the human, as the story of the call tells it. */
  readonly told: Line;
  /** For the LLM, which gets it whole. */
  readonly text: string;
  /** Above the text: which event it is, into which conversation it goes, and when it came. */
  readonly heading: Line;
}

/** The event of a subscription that has just come; null where it is none. @param history that has it already */
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
