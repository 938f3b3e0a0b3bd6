import { type Arrival, acknowledgedAfter, type Exchange, llmTextOf, outcomeOf } from '../events/exchange.js';
import { idOf } from '../events/fold-exchange.js';
import type { Outcome } from '../protocol/outcome.js';
import { since } from '../util/excerpt.js';
import { formatDuration } from '../util/format-duration.js';
import type { Failure } from './failure.js';
import { type Line, quote, say } from './line.js';

/** Of many times, in ms. */
interface Spread {
  readonly min: number;
  readonly median: number;
  readonly p99: number;
}

/** Null where there are none. The nearest rank: each figure is one of the times, to the microsecond. */
export function spreadOf(times: readonly number[]): Spread | null {
  const sorted = [...times].sort((a, b) => a - b);
  const rank = (share: number) => since(sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0, 0);
  return sorted.length === 0 ? null : { min: rank(0), median: rank(0.5), p99: rank(0.99) };
}

/** What many calls of the same tool came to. Times in ms, from when a call was sent. */
interface Summary {
  readonly calls: number;
  /** How many calls ended in which way; `pending` where nobody answered what it asked. */
  readonly outcomes: Readonly<Partial<Record<Outcome['type'] | 'pending', number>>>;
  readonly acknowledged: Spread | null;
  readonly results: Spread | null;
  /** Callbacks that came to the URL of one call and named another (TOOL-ISOLATE). */
  readonly crossed: number;
}

export function summaryOf(exchanges: readonly Exchange[]): Summary {
  const ids = new Set(exchanges.map(({ invocation }) => invocation.id));
  const outcomes: Partial<Record<Outcome['type'] | 'pending', number>> = {};
  for (const exchange of exchanges) {
    const type = outcomeOf(exchange)?.type ?? 'pending';
    outcomes[type] = (outcomes[type] ?? 0) + 1;
  }
  return {
    calls: exchanges.length,
    outcomes,
    acknowledged: spreadOf(exchanges.map(acknowledgedAfter).filter(time => time !== null)),
    results: spreadOf(exchanges.map(resultAfter).filter(time => time !== null)),
    crossed: exchanges.flatMap(exchange => crossedIn(exchange, ids)).length,
  };
}

/** Milliseconds from the first dispatch to the result; null where there is none. */
function resultAfter({ settled, attempts: [first] }: Exchange): number | null {
  const isHere = settled?.by === 'result' || settled?.by === 'answer';
  return isHere && first ? settled.at - first.sentAt : null;
}

/** `12 calls: 11 success, 1 timeout` */
export function outcomesLine(calls: number, outcomes: Readonly<Record<string, number>>): Line {
  const ways = Object.entries(outcomes).map(([type, count]) => `${count} ${type}`);
  const isFine = outcomes['success'] === calls;
  return [
    say(`${calls} call${calls === 1 ? '' : 's'}: `, 'title'),
    say(ways.join(', '), isFine ? 'good' : 'bad'),
  ];
}

/** {@link outcomesLine}, then the times. */
export function summaryLines({ calls, outcomes, acknowledged, results, crossed }: Summary): Line[] {
  return [
    outcomesLine(calls, outcomes),
    ...spreadLine('acknowledged after', acknowledged),
    ...spreadLine('results after', results),
    ...(crossed > 0
      ? [
          [
            say(
              `${crossed} callback${crossed === 1 ? '' : 's'} named a different call than their URL belongs to`,
              'bad',
            ),
          ],
        ]
      : []),
  ];
}

function spreadLine(what: string, spread: Spread | null): Line[] {
  if (!spread) return [];
  const figures = [
    ['min', spread.min],
    ['median', spread.median],
    ['p99', spread.p99],
  ] as const;
  return [
    [
      say(`${what} `, 'dim'),
      ...figures.flatMap(([name, value], index) => [
        say(`${index > 0 ? ' · ' : ''}${name} `, 'dim'),
        say(formatDuration(value)),
      ]),
    ],
  ];
}

function crossedIn({ arrivals, invocation: { id } }: Exchange, ids: ReadonlySet<string>): readonly Arrival[] {
  return arrivals.filter(({ verdict, message }) => {
    const named = verdict.kind === 'discarded' && message ? idOf(message) : undefined;
    return named !== undefined && named !== id && ids.has(named);
  });
}

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
