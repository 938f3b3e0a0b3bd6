import { llmTextOf } from '../exchange/ending.js';
import type { History } from '../exchange/history.js';
import { warningsOf } from '../story/warnings.js';
import { writeOut } from '../system/output.js';
import { visible } from '../text/visible.js';
import { toWellFormed } from '../text/well-formed.js';
import type { Ending, Paper, Reporter } from './reporter.js';
import { troubleText, warningText } from './trouble.js';
import { urgentTeller } from './urgent.js';

/** Stdout is exactly what the LLM gets; everything else goes to stderr. On a terminal the text is made safe first. */
export function textReporter(
  history: History,
  paper: Paper,
  { isTTY }: { readonly isTTY: boolean },
): Reporter {
  const { stdout, stderr, quiet } = paper;
  const told = new Set<string>();
  return {
    event: urgentTeller(history, paper, told),
    async settled({ exchange }: Ending) {
      const text = exchange && llmTextOf(exchange);
      if (text === null || text === undefined) return;
      await writeOut(stdout, isTTY ? `${visible(text)}\n` : toWellFormed(text).text);
    },
    async end({ exchange, notes, trouble }: Ending) {
      const warnings = [...notes, ...warningsOf(history, exchange)];
      // What went wrong with a callback is told again only where it explains why there is no result.
      const untold = trouble ? warnings : warnings.filter(({ message }) => !told.has(message));
      if (!quiet) for (const warning of untold) stderr.write(warningText(warning));
      if (trouble) stderr.write(troubleText(trouble));
    },
  };
}
