import {
  acknowledgedAfter,
  type Exchange,
  llmTextOf,
  outcomeOf,
  resultAfter,
} from '../../events/exchange.js';
import { History } from '../../events/history.js';
import { formatDuration, truncate } from '../../util/text.js';
import { type Line, quote, say } from '../line.js';
import { cutLine } from '../terminal/fit.js';
import { lineStyler } from '../terminal/wrap.js';
import { warningsOfAll } from '../warnings.js';
import { invokeReport } from './call-report.js';
import { type RepeatsReport, summaryLines, summaryOf } from './repeats-summary.js';
import { type Ending, jsonReporter, type Page, type Reporter } from './reporter.js';
import { errorReport, type Trouble } from './trouble.js';

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
/** Prints many calls as one object: `{calls: […], summary, warnings}`, each call as in `invoke -o json`. */
export function jsonRepeats(page: Page, supports: ReadonlySet<string>): Reporter {
  const ended: Pick<Ending, 'exchange' | 'trouble'>[] = [];
  const reportOf = ({ notes, trouble }: Ending): RepeatsReport => ({
    calls: ended.map(({ exchange, trouble: own }) => {
      const part = exchange ? page.history.ofCall(exchange) : new History();
      return invokeReport({ history: part, notes: [], exchange, trouble: own }, supports);
    }),
    summary: summaryOf(ended.flatMap(({ exchange }) => exchange ?? [])),
    warnings: warningsOfAll(page.history, notes),
    ...(trouble && { error: errorReport(trouble) }),
  });
  return { ...jsonReporter(page, reportOf), settled: async ending => void ended.push(ending) };
}
