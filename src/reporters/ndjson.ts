import type { History } from '../exchange/history.js';
import type { TranscriptHeader } from '../exchange/transcript-format.js';
import type { TranscriptWriter } from '../exchange/transcript-writer.js';
import { Page } from './page.js';
import type { Ending, Paper, Reporter } from './reporter.js';
import { troubleText } from './trouble.js';
import { urgentTeller } from './urgent.js';

/** Every event as it happens: a transcript on stdout. */
export function ndjsonReporter(
  history: History,
  paper: Paper,
  writer: TranscriptWriter,
  about: Pick<TranscriptHeader, 'startedAt' | 'observer' | 'program'>,
): Reporter {
  const urgent = urgentTeller(history, paper);
  const lines = (each: readonly string[]) => each.map(line => `${line}\n`).join('');
  let latest = { seq: 0, at: 0 };
  const why = 'whoever reads this is too slow for it';
  const page = new Page(paper.stdout, count =>
    lines(writer.event({ kind: 'dropped', what: 'event', why, count, ...latest })),
  );
  page.write(lines([writer.header(about)]));
  return {
    event(event) {
      const { seq, at } = event;
      urgent(event);
      page.news(() => lines(writer.event(event)));
      latest = { seq, at };
    },
    async end({ trouble }: Ending) {
      page.last(() => lines([writer.end(trouble?.code ?? 'done')]));
      await page.written();
      if (trouble) paper.stderr.write(troubleText(trouble));
    },
  };
}
