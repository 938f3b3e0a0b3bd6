import type { ColourLevel } from '../../dress/colour-level.js';
import { dressLine } from '../../dress/dress.js';
import { createTheme } from '../../dress/theme.js';
import type { Exchange } from '../../exchange/exchange.js';
import type { History } from '../../exchange/history.js';
import type { Line } from '../../story/line.js';
import { callLine } from '../../story/repeats/call-line.js';
import { summaryLines, summaryOf } from '../../story/repeats/summary.js';
import type { Redactor } from '../../text/redact.js';
import { Page } from '../page.js';
import type { Ending, Paper, Reporter } from '../reporter.js';
import { troubleText, warningText } from '../trouble.js';
import { urgentTeller } from '../urgent.js';
import { warningsOfAll } from './warnings.js';

/** Many calls: a line for each as it ends, then what they came to. */
export function plainRepeats(
  history: History,
  paper: Paper,
  { level, redactor }: { readonly level: ColourLevel; readonly redactor: Redactor },
): Reporter {
  const theme = createTheme(level);
  const ended: Exchange[] = [];
  const page = new Page(paper.stdout);
  const write = (lines: readonly Line[]) => {
    page.write(redactor.text(lines.map(line => `${dressLine(line, theme)}\n`).join('')));
    return page.written();
  };
  const { stderr, quiet } = paper;
  return {
    event: urgentTeller(history, paper),
    async settled({ exchange, trouble }: Ending) {
      if (exchange) await write([callLine(ended.push(exchange), exchange, trouble)]);
    },
    async end({ notes, trouble }: Ending) {
      if (ended.length > 0) await write([[], ...summaryLines(summaryOf(ended))]);
      if (!quiet)
        for (const warning of [...notes, ...warningsOfAll(history)]) stderr.write(warningText(warning));
      if (trouble) stderr.write(troubleText(trouble));
    },
  };
}
