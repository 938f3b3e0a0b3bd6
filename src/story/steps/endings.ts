import { outcomeOf } from '../../exchange/ending.js';
import type { Exchange, Settlement } from '../../exchange/exchange.js';
import { formatDuration } from '../../text/format-duration.js';
import { basisWords } from '../basis-words.js';
import { givenUpWords } from '../given-up.js';
import type { Line } from '../line.js';
import { quote, say } from '../spans.js';
import { clipped } from '../tool-calls/clip.js';
import { type Step, step } from './step.js';

/** How the call ended, where its result does not say it already. */
export function endSteps(exchange: Exchange): Step[] {
  const { settled, key } = exchange;
  if (settled === null) return [];
  const line = endLine(exchange, settled);
  return line.length === 0 ? [] : [step(`end:${key}`, settled.at, 'failed', ...line)];
}

/** What a pending call waits for. */
export function waitingSteps({ settled, waitingFor, attempts, key, dialect }: Exchange): Step[] {
  if (settled !== null) return [];
  const last = attempts.at(-1);
  const isSent = dialect !== 'mcp' && last !== undefined && last.endedAt === undefined;
  const result = isSent ? 'waiting for the acknowledgement' : 'waiting for the result';
  const since = last?.endedAt ?? last?.sentAt ?? 0;
  return [step(`end:${key}`, since, 'running', say(waitingFor ? 'waiting for you' : result))];
}

/** How a subscription ended without a last event. */
export function unsubscribedSteps({ key, subscription }: Exchange): Step[] {
  const { ended = null, events = 0 } = subscription ?? {};
  if (ended === null || ended.by === 'final') return [];
  const count = `${events} event${events === 1 ? '' : 's'}`;
  const how = ended.by === 'cancel' ? 'cancelled' : 'closed with its thread';
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
      return [say(`no result within ${formatDuration(settled.afterMs)}`)];
    case 'denial': {
      const why = settled.who === 'person' ? [say('you said no')] : clipped(settled.reason);
      return [...quote(settled.tool, 'title'), say(' was not called: '), ...why];
    }
    case 'cancel':
      return [say(givenUpWords(exchange, settled))];
    default:
      return []; // the answer to the last dispatch says it
  }
}
