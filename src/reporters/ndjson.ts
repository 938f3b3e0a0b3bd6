import type { History } from '../exchange/history.js';
import type { TranscriptHeader } from '../exchange/transcript-format.js';
import type { TranscriptWriter } from '../exchange/transcript-writer.js';
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
  const write = (...lines: string[]) => paper.stdout.write(lines.map(line => `${line}\n`).join(''));
  write(writer.header(about));
  return {
    event(event) {
      urgent(event);
      write(...writer.event(event));
    },
    async end({ trouble }: Ending) {
      write(writer.end(trouble?.code ?? 'done'));
      if (trouble) paper.stderr.write(troubleText(trouble));
    },
  };
}
