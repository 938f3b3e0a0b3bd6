import { llmTextOf, outcomeOf } from '../../exchange/ending.js';
import { acknowledgedAfter, type Exchange } from '../../exchange/exchange.js';
import { formatDuration } from '../../text/format-duration.js';
import type { Failure } from '../failure.js';
import type { Line } from '../line.js';
import { quote, say } from '../spans.js';
import { resultAfter } from './summary.js';

/** Of a text this much is told, of a reason more: the rest is for `-o json`. */
const EXCERPT = 60;
const REASON = 160;

/** One of many calls, in a line: how it ended, after how long, and what it said. */
export function callLine(number: number, exchange: Exchange, failure: Failure | null): Line {
  const type = outcomeOf(exchange)?.type ?? 'pending';
  const isFine = type === 'success';
  return [
    say(`${String(number).padStart(4)} `, 'gutter'),
    say(isFine ? '✓ ' : '✗ ', isFine ? 'good' : 'bad'),
    say(type.padEnd(8), isFine ? 'plain' : 'bad'),
    ...time(' acknowledged ', acknowledgedAfter(exchange)),
    ...time(' result ', resultAfter(exchange)),
    say('  '),
    ...(failure
      ? quote(excerpt(failure.message, REASON), 'bad')
      : quote(excerpt(llmTextOf(exchange) ?? '', EXCERPT), 'dim')),
  ];
}

function time(what: string, milliseconds: number | null): Line {
  const told = milliseconds === null ? '–' : formatDuration(milliseconds);
  return [say(what, 'dim'), say(told.padStart(6))];
}

function excerpt(text: string, most: number): string {
  const [line = ''] = text.split('\n', 1);
  return line.length > most ? `${line.slice(0, most).toWellFormed()}…` : line;
}
