import type { Event } from '../../exchange/events.js';
import type { Arrival, Exchange } from '../../exchange/exchange.js';
import { shareableArrival } from '../../exchange/shareable.js';
import { arrivalStep, arrivalSteps } from './arrivals.js';
import { answerSteps, sentStep } from './attempts.js';
import { endSteps, unsubscribedSteps, waitingSteps } from './endings.js';
import { selectionStep } from './questions.js';
import type { Step } from './step.js';

/** One call: its dispatch, what came back for it, and how it ended or what it waits for. Of its callbacks only the `latest`. */
export function callSteps(exchange: Exchange, latest = Number.POSITIVE_INFINITY): Step[] {
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
export function newCallSteps(exchange: Exchange, event: Event, isPrivate: boolean): Step[] {
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
