import { outcomeOf } from '../../exchange/ending.js';
import { type Arrival, acknowledgedAfter, type Exchange } from '../../exchange/exchange.js';
import { idOf } from '../../exchange/judge.js';
import type { Outcome } from '../../outcome/outcome.js';
import { formatDuration } from '../../text/format-duration.js';
import type { Line } from '../line.js';
import { say } from '../spans.js';
import { type Spread, spreadOf } from './spread.js';

/** What many calls of the same tool came to. Times in ms, from when a call was sent. */
export interface Summary {
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
export function resultAfter({ settled, attempts: [first] }: Exchange): number | null {
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
              `${crossed} callback${crossed === 1 ? '' : 's'} named another call than that whose URL was used`,
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
