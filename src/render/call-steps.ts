import type { Event, EventKind, EventOf } from '../events/events.js';
import {
  type Attempt,
  type Exchange,
  outcomeOf,
  type Selection,
  type Settlement,
} from '../events/exchange.js';
import { shareableArrival } from '../events/shareable.js';
import { bytesText } from '../util/text.js';
import { arrivalStep } from './callbacks.js';
import { basisLine } from './calls.js';
import { settlementText } from './failure.js';
import { clipped, type Line, line, pluralize, quote, took } from './line.js';
import type { Step, StepText } from './step.js';

/**
 * The steps that an event adds to a call, which must have the event.
 * @param isPrivate only the user sees the steps; otherwise URLs that grant access are cut
 */
export function callSteps(exchange: Exchange, event: Event, isPrivate: boolean): Step[] {
  const stepsFor = NEW_STEPS[event.kind] as NewSteps<EventKind> | null;
  return stepsFor?.(exchange, event, isPrivate) ?? [];
}

type NewSteps<Kind extends EventKind> = (
  exchange: Exchange,
  event: EventOf<Kind>,
  isPrivate: boolean,
) => Step[];

/** Null for events that add no step. */
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
  return { at: sentAt, state: 'done', lines: [words], leg };
}

function answerSteps(exchange: Exchange, attempt: Attempt): Step[] {
  const { leg, sentAt, endedAt } = attempt;
  const answer = endedAt === undefined ? null : describeAnswer(exchange, attempt);
  if (endedAt === undefined || answer === null) return [];
  return [{ at: endedAt, state: answer.state, lines: [[...answer.words, took(endedAt - sentAt)]], leg }];
}

function describeAnswer(
  { dialect, settled }: Exchange,
  { status, broken, bodySize = 0 }: Attempt,
): StepText | null {
  if (settled?.by === 'answer') return { state: 'done', words: line`result` };
  if (dialect === 'mcp' && broken) {
    const isOurs = settled?.by === 'cancel' || settled?.by === 'timeout';
    return isOurs ? null : { state: 'failed', words: line`not answered: ${quote(broken.code)}` };
  }
  if (status === undefined)
    return { state: 'failed', words: line`not acknowledged: ${quote(broken?.code ?? 'broken')}` };
  if (status !== 200) return { state: 'failed', words: line`answered ${status} instead of 200` };
  const body = bodySize > 0 && ` and a body of ${bytesText(bodySize)}`;
  return { state: 'done', words: line`acknowledged with 200${body}` };
}

/** How a call ended, unless its result or the answer to its last dispatch shows it. */
function endSteps(exchange: Exchange): Step[] {
  const { settled } = exchange;
  const words = settled && endWords(exchange, settled);
  return words ? [{ at: settled.at, state: 'failed', lines: [words] }] : [];
}

function endWords(exchange: Exchange, settled: Settlement): Line | null {
  if (settled.by === 'refusal' || settled.by === 'unreachable') return null;
  if (settled.by !== 'result' && settled.by !== 'answer') return quote(settlementText(settled));
  const outcome = outcomeOf(exchange);
  const isFine = outcome === null || outcome.type === 'success';
  return isFine ? null : line`outcome ${outcome.type} (${basisLine(outcome.basis)})`;
}

/** The end of a subscription without a final event. */
function unsubscribedSteps({ subscription }: Exchange): Step[] {
  const { ended = null, events = 0 } = subscription ?? {};
  if (ended === null || ended.by === 'final') return [];
  const how = ended.by === 'cancel' ? 'canceled' : 'closed with its thread';
  const words = line`the subscription was ${how}, after ${pluralize(events, 'event')}`;
  return [{ at: ended.at, state: 'note', lines: [words] }];
}

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
  return { at, state: 'done', lines: [words] };
}

function newArrivalSteps(exchange: Exchange, leg: string, isPrivate: boolean): Step[] {
  const arrival = exchange.arrivals.findLast(each => each.leg === leg);
  if (!arrival) return [];
  const arrived = arrivalStep(exchange, isPrivate ? arrival : shareableArrival(arrival));
  return arrival.verdict.kind === 'settles' ? [arrived, ...endSteps(exchange)] : [arrived];
}
