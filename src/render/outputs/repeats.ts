import type * as z from 'zod/mini';
import {
  type Arrival,
  acknowledgedAfter,
  type Exchange,
  llmTextOf,
  outcomeOf,
} from '../../events/exchange.js';
import { History } from '../../events/history.js';
import { idOf } from '../../events/judge-callback.js';
import type { Warning } from '../../protocol/requirements.js';
import { elapsedMs, formatDuration, truncate } from '../../util/text.js';
import { type Line, line, pluralize, quote, say } from '../line.js';
import { cutLine } from '../terminal/fit.js';
import { lineStyler } from '../terminal/wrap.js';
import { mergeWarnings, warningsOf } from '../warnings.js';
import { invokeReport } from './call-report.js';
import { type Ending, jsonReporter, type Page, type Reporter } from './reporter.js';
import type { repeatsSchema } from './schemas.js';
import { errorReport, type Trouble } from './trouble.js';

type RepeatsReport = z.infer<typeof repeatsSchema>;

/** A summary of many calls of the same tool. Times are in ms since a call was sent. */
type Summary = RepeatsReport['summary'];

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
  };
}

/** Returns null without times. Each figure is one of the times (nearest rank), rounded to microseconds. */
function spreadOf(times: readonly (number | null)[]): Spread | null {
  const sorted = times.filter(time => time !== null).sort((a, b) => a - b);
  const rank = (share: number) =>
    elapsedMs(sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0, 0);
  return sorted.length === 0 ? null : { min: rank(0), median: rank(0.5), p99: rank(0.99) };
}

/** Null without a result. */
function resultAfter({ settled, attempts: [first] }: Exchange): number | null {
  const isResult = settled?.by === 'result' || settled?.by === 'answer';
  return isResult && first ? settled.at - first.sentAt : null;
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
export function summaryLines({ calls, outcomes, acknowledged, results, crossed }: Summary): Line[] {
  const strays = `${pluralize(crossed, 'callback')} named a different call than their URL belongs to`;
  const { pending, ...ended } = outcomes;
  return [
    outcomesLine(calls, { ...ended, ...(pending !== undefined && { 'without a result': pending }) }),
    ...spreadLine('acknowledged after', acknowledged),
    ...spreadLine('results after', results),
    ...(crossed > 0 ? [[say(strays, 'bad')]] : []),
  ];
}

function spreadLine(what: string, spread: Spread | null): Line[] {
  if (!spread) return [];
  const { min, median, p99 } = spread;
  const [first, ...others] = ['min ', ' · median ', ' · p99 '].map(name => say(name, 'dim'));
  const time = formatDuration;
  return [
    line`${say(`${what} `, 'dim')}${first}${time(min)}${others[0]}${time(median)}${others[1]}${time(p99)}`,
  ];
}

/** Maximum length of a text or a reason, in characters; `-o json` has all of it. */
const LONGEST = 1_000;

/** One of many calls on a line: its outcome, its times, and its text. */
function callLine(number: number, exchange: Exchange, failure: Trouble | null): Line {
  const type = outcomeOf(exchange)?.type ?? 'pending';
  const isFine = type === 'success';
  const [reason = ''] = failure?.message.split('\n', 1) ?? [];
  const [text = ''] = llmTextOf(exchange)?.split('\n', 1) ?? [];
  const time = (what: string, ms: number | null): Line => [
    say(what, 'dim'),
    say((ms === null ? '–' : formatDuration(ms)).padStart(6)),
  ];
  return [
    say(`${String(number).padStart(4)} `, 'gutter'),
    say(isFine ? '✓ ' : '✗ ', isFine ? 'good' : 'bad'),
    say(type.padEnd(8), isFine ? 'plain' : 'bad'),
    ...time(' acknowledged ', acknowledgedAfter(exchange)),
    ...time(' result ', resultAfter(exchange)),
    say('  '),
    ...(failure ? quote(truncate(reason, LONGEST), 'bad') : quote(truncate(text, LONGEST), 'dim')),
  ];
}

/** The warnings of all calls, and those of no call. @param notes come first */
export function warningsOfAll(history: History, notes: readonly Warning[] = []): Warning[] {
  const ofCalls = [...history.exchanges.values()].flatMap(each =>
    warningsOf(new History(history.isWhole), each),
  );
  return mergeWarnings([...notes, ...warningsOf(history, undefined), ...ofCalls]);
}

/** Prints a line for each call as it ends, then the summary. */
export function plainRepeats(page: Page): Reporter {
  const styled = lineStyler(page);
  const ended: Exchange[] = [];
  const fitted = (row: Line) => (page.columns === null ? row : cutLine(row, page.columns));
  return {
    event: page.urgent,
    async settled({ exchange, trouble }) {
      if (exchange) page.out.write(styled([fitted(callLine(ended.push(exchange), exchange, trouble))]));
      await page.out.written();
    },
    end({ notes, trouble }) {
      if (ended.length > 0) page.out.write(styled([[], ...summaryLines(summaryOf(ended))]));
      return page.end(warningsOfAll(page.history, notes), trouble, true);
    },
  };
}

/** The part of a history that concerns one call: its thread and its requests. */
function ownHistory({ threads, untracked }: History, exchange: Exchange): History {
  const { group_id } = exchange.invocation;
  const own = new History();
  own.exchanges.set(exchange.key, exchange);
  const thread = threads.get(group_id);
  if (thread) own.threads.set(group_id, thread);
  for (const request of untracked.ofCall(exchange.key)) own.untracked.begin(request);
  for (const request of untracked.ofThread(group_id)) own.untracked.begin(request);
  return own;
}

const NO_HISTORY = new History();

/** Prints many calls as one object: `{calls: […], summary, warnings}`, each call as in `invoke -o json`. */
export function jsonRepeats(page: Page, supports: ReadonlySet<string>): Reporter {
  const ended: Pick<Ending, 'exchange' | 'trouble'>[] = [];
  const reportOf = ({ notes, trouble }: Ending): RepeatsReport => ({
    calls: ended.map(({ exchange, trouble: own }) => {
      const part = exchange ? ownHistory(page.history, exchange) : NO_HISTORY;
      return invokeReport({ history: part, notes: [], exchange, trouble: own }, supports);
    }),
    summary: summaryOf(ended.flatMap(({ exchange }) => exchange ?? [])),
    warnings: warningsOfAll(page.history, notes),
    ...(trouble && { error: errorReport(trouble) }),
  });
  return { ...jsonReporter(page, reportOf), settled: async ending => void ended.push(ending) };
}
