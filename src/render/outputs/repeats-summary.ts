import type * as z from 'zod/mini';
import {
  type Arrival,
  acknowledgedAfter,
  type Exchange,
  outcomeOf,
  resultAfter,
} from '../../events/exchange.js';
import { idOf } from '../../events/judge-callback.js';
import { elapsedMs, formatDuration } from '../../util/text.js';
import { type Line, pluralize, say } from '../line.js';
import type { repeatsSchema } from './schemas.js';

/** The output of `invoke --repeat -o json`. */
export type RepeatsReport = z.infer<typeof repeatsSchema>;

/** A summary of many calls of the same tool. Times are in ms since a call was sent. */
export type Summary = RepeatsReport['summary'];

type Spread = NonNullable<Summary['results']>;

export function summaryOf(exchanges: readonly Exchange[]): Summary {
  const ids = new Set(exchanges.map(({ invocation }) => invocation.id));
  const outcomes: Summary['outcomes'] = {};
  for (const exchange of exchanges) {
    const type = outcomeOf(exchange)?.type ?? 'pending';
    outcomes[type] = (outcomes[type] ?? 0) + 1;
  }
  return {
    calls: exchanges.length,
    outcomes,
    acknowledged: spreadOf(exchanges.map(acknowledgedAfter)),
    results: spreadOf(exchanges.map(resultAfter)),
    crossed: exchanges.flatMap(exchange => crossedIn(exchange, ids)).length,
    ...uneven(exchanges),
  };
}

/**
 * Counts calls that got a further result while calls ran that got nothing, and these: a tool that keeps the latest call for all sends
 * every result with its names, to its URL (TOOL-ISOLATE).
 */
function uneven(exchanges: readonly Exchange[]): Pick<Summary, 'repeated' | 'silent'> {
  const repeated = exchanges.filter(exchange => lastRepetition(exchange) !== undefined);
  const silent = exchanges.filter(isSilent);
  return {
    repeated: repeated.filter(each => silent.some(other => ranDuring(each, other))).length,
    silent: silent.filter(other => repeated.some(each => ranDuring(each, other))).length,
  };
}

function lastRepetition({ arrivals }: Exchange): Arrival | undefined {
  return arrivals.findLast(({ verdict }) => verdict.kind === 'duplicate');
}

/** Whether an acknowledged call got nothing from the tool, not even at a wrong address. */
function isSilent(exchange: Exchange): boolean {
  return acknowledgedAfter(exchange) !== null && exchange.arrivals.length === 0 && exchange.misdirected === 0;
}

/** Whether the silent call ran while the other one did, up to its last further result. */
function ranDuring(repeated: Exchange, { attempts: [sent], settled }: Exchange): boolean {
  const from = repeated.attempts[0]?.sentAt ?? 0;
  const to = lastRepetition(repeated)?.at ?? 0;
  return sent !== undefined && sent.sentAt < to && (settled === null || settled.at > from);
}

/** Returns null without times. Each figure is one of the times (nearest rank), rounded to microseconds. */
function spreadOf(times: readonly (number | null)[]): Spread | null {
  const sorted = times.filter(time => time !== null).sort((a, b) => a - b);
  const rank = (share: number) =>
    elapsedMs(sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0, 0);
  return sorted.length === 0 ? null : { min: rank(0), median: rank(0.5), p99: rank(0.99) };
}

/** Counts callbacks that arrived at the URL of one call but name another (TOOL-ISOLATE). */
function crossedIn({ arrivals, invocation: { id } }: Exchange, ids: ReadonlySet<string>): readonly Arrival[] {
  return arrivals.filter(({ verdict, message }) => {
    const named = verdict.kind === 'discarded' && message ? idOf(message) : undefined;
    return named !== undefined && named !== id && ids.has(named);
  });
}

/** `12 calls: 11 success, 1 timeout` */
export function outcomesLine(calls: number, outcomes: Readonly<Record<string, number | undefined>>): Line {
  const ways = Object.entries(outcomes).map(([type, count]) => `${count} ${type}`);
  const tone = outcomes['success'] === calls ? 'good' : 'bad';
  return [say(`${pluralize(calls, 'call')}: `, 'title'), say(ways.join(', '), tone)];
}

/** {@link outcomesLine}, then the times. */
export function summaryLines(summary: Summary): Line[] {
  const { calls, outcomes, acknowledged, results, crossed, repeated, silent } = summary;
  const strays = `${pluralize(crossed, 'callback')} came to the URL of another call`;
  const none = `${silent} that ran at the same time ${silent === 1 ? 'has' : 'have'} none`;
  const { pending, ...ended } = outcomes;
  return [
    outcomesLine(calls, { ...ended, ...(pending !== undefined && { 'without a result': pending }) }),
    ...spreadLine('acknowledged after', acknowledged),
    ...spreadLine('results after', results),
    ...(crossed > 0 ? [[say(strays, 'bad')]] : []),
    ...(repeated > 0
      ? [[say(`${pluralize(repeated, 'call')} got a second result, and ${none}`, 'bad')]]
      : []),
  ];
}

function spreadLine(what: string, spread: Spread | null): Line[] {
  if (!spread) return [];
  const { min, median, p99 } = spread;
  return [
    [
      say(`${what} `, 'dim'),
      ...timeSpans('min ', min),
      ...timeSpans(' · median ', median),
      ...timeSpans(' · p99 ', p99),
    ],
  ];
}

function timeSpans(name: string, ms: number): Line {
  return [say(name, 'dim'), say(formatDuration(ms))];
}
