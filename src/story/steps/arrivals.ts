import { outcomeOf } from '../../exchange/ending.js';
import type { Arrival, Exchange } from '../../exchange/exchange.js';
import type { VerdictKind } from '../../exchange/verdict.js';
import { lateText, recordedAnswer, refusalWords } from '../late-text.js';
import type { Line } from '../line.js';
import { questionLines } from '../question-lines.js';
import { quote, say } from '../spans.js';
import { clipped } from '../tool-calls/clip.js';
import { eventOf, eventWords } from './events.js';
import { questionLine } from './questions.js';
import { after, type Step, step } from './step.js';

/** An event's text, or a reason, is read by a person; whoever wants all of it has the other outputs. */
const MOST = 4_000;

/** These are from before what is forgotten, often. */
const LASTING = new Set<VerdictKind>(['settles', 'holds']);

/** The latest callbacks for a call; of those that are not kept any more it is told how many they were. */
export function arrivalSteps(exchange: Exchange, latest: number): Step[] {
  const arrivals = exchange.arrivals.slice(-latest);
  let number = exchange.subscription?.events ?? 0;
  const steps = arrivals
    .toReversed()
    .map(arrival => arrivalStep(exchange, arrival, eventOf(arrival) ? number-- : number));
  return [...forgottenSteps(exchange), ...steps.reverse()];
}

/** One callback. @param number which event of the subscription it is, from 1, where it is one */
export function arrivalStep(exchange: Exchange, arrival: Arrival, number: number): Step {
  const { leg, at, verdict, message, progress } = arrival;
  const answered = recordedAnswer(arrival);
  const tail: Line = answered === null ? [] : [say('; '), ...quote(answered)];
  const tell = (state: Step['state'], ...line: Line) => step(`arrival:${leg}`, at, state, ...line, ...tail);
  const since = sinceSent(exchange, at);
  const what = message?.type ?? 'callback';
  switch (verdict.kind) {
    case 'settles':
      return tell('done', say('result'), ...since, ...consequences(exchange));
    case 'holds':
      return {
        ...tell('note', ...questionLine(message)),
        ...(message?.type === 'user_choice' && { lines: questionLines(message) }),
      };
    case 'noted':
      return tell('note', ...(progress ? progressLine(progress) : newsLine(message, number)), ...since);
    case 'ignored':
      return tell('note', say(`${what} ignored: `), ...clipped(verdict.reason, 'plain', MOST));
    case 'duplicate': {
      const again = verdict.identical ? 'delivered again' : 'with other content';
      return tell('note', say(`${what} ${again}; the first counts`), ...since);
    }
    case 'late':
      return tell('note', say(lateText(message, exchange.settled, sinceSentMs(exchange, at))));
    default: {
      const refusal =
        answered === null
          ? `${what} ${verdict.kind} with ${verdict.status}: `
          : `${what} ${refusalWords(arrival, verdict)}: `;
      return tell('failed', say(refusal), ...clipped(verdict.reason, 'plain', MOST));
    }
  }
}

/** Nothing where nothing was sent: somebody else made the call. */
function sinceSent(exchange: Exchange, at: number): Line {
  const ms = sinceSentMs(exchange, at);
  return ms === null ? [] : [after(ms)];
}

function sinceSentMs({ attempts: [first] }: Exchange, at: number): number | null {
  return first ? at - first.sentAt : null;
}

/** What a result says of what came before it, and of what comes after. */
function consequences(exchange: Exchange): Line {
  const asked = exchange.arrivals.findLast(({ verdict }) => verdict.kind === 'holds');
  const isGranted = asked?.message?.type === 'oauth' && outcomeOf(exchange)?.type === 'success';
  return [
    ...(isGranted ? [say('; consent was given')] : []),
    ...(exchange.subscription ? [say('; it opened a subscription')] : []),
  ];
}

function newsLine(message: Arrival['message'], number: number): Line {
  if (message?.type === 'subscription_event')
    return [say(`${eventWords(message, number)}: `), ...clipped(message.text, 'plain', MOST)];
  if (message?.type !== 'view_update') return [say(message?.type ?? 'callback')];
  const isCleared = Object.keys(message.content).length === 0;
  return [say('view '), ...quote(message.view_type, 'title'), say(isCleared ? ' cleared' : ' updated')];
}

function progressLine({ progress, total, message }: NonNullable<Arrival['progress']>): Line {
  const share = total !== undefined && total > 0 ? ` of ${total}` : '';
  const words = message === undefined ? [] : [say(': '), ...clipped(message, 'plain', MOST)];
  return [say(`progress ${progress}${share}`), ...words];
}

function forgottenSteps({ key, arrivals, forgotten }: Exchange): Step[] {
  const at = arrivals.find(({ verdict }) => !LASTING.has(verdict.kind))?.at;
  if (forgotten === 0 || at === undefined) return [];
  return [
    step(`forgotten:${key}`, at, 'note', say(`${forgotten} callbacks before this are not kept any more`)),
  ];
}
