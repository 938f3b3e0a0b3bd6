import type { Event } from '../../exchange/events.js';
import type { Arrival, Exchange } from '../../exchange/exchange.js';
import { arrivalStep, arrivalSteps } from './arrivals.js';
import { answerSteps, sentStep } from './attempts.js';
import { endSteps, unsubscribedSteps, waitingSteps } from './endings.js';
import { selectionStep } from './questions.js';
import type { Step } from './step.js';

/** One call: its dispatch, what came back for it, and how it ended or what it waits for. Of its callbacks only the `latest`. */
export function callSteps(exchange: Exchange, latest = Number.POSITIVE_INFINITY): Step[] {
  const { attempts, selections } = exchange;
  return [
    ...attempts.flatMap(attempt => [sentStep(exchange, attempt), ...answerSteps(attempt)]),
    ...arrivalSteps(exchange, latest),
    ...selections.map(selection => selectionStep(exchange, selection)),
    ...endSteps(exchange),
    ...unsubscribedSteps(exchange),
    ...waitingSteps(exchange),
  ];
}

/** What an event adds to the story of a call that has it already: as much work however long that story is. */
export function newCallSteps(exchange: Exchange, event: Event): Step[] {
  switch (event.kind) {
    case 'request':
      if (event.purpose === 'invocation')
        return attemptWith(exchange, event.leg).map(each => sentStep(exchange, each));
      if (event.purpose === 'close') return unsubscribedSteps(exchange).filter(({ at }) => at === event.at);
      return event.purpose === 'callback' ? newArrivalSteps(exchange, event.leg) : [];
    case 'broken':
      return attemptWith(exchange, event.leg).flatMap(answerSteps);
    case 'response':
      if (event.refusal !== undefined) return newArrivalSteps(exchange, event.leg);
      return attemptWith(exchange, event.leg).flatMap(answerSteps);
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

function newArrivalSteps(exchange: Exchange, leg: string): Step[] {
  const arrival = exchange.arrivals.findLast(each => each.leg === leg);
  if (!arrival) return [];
  const told = arrivalStep(exchange, arrival, exchange.subscription?.events ?? 0);
  return settles(arrival) ? [told, ...endSteps(exchange)] : [told];
}

const settles = ({ verdict }: Arrival) => verdict.kind === 'settles';

function newSelectionSteps(exchange: Exchange, at: number): Step[] {
  const selection = exchange.selections.at(-1);
  return selection?.at === at ? [selectionStep(exchange, selection)] : [];
}

/** An end that an event before it had brought is told already. */
function endsAt(exchange: Exchange, at: number): Step[] {
  const isByResult = exchange.settled?.by === 'result';
  const ends = [...(isByResult ? [] : endSteps(exchange)), ...unsubscribedSteps(exchange)];
  return ends.filter(end => end.at === at);
}
