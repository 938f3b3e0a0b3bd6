import type { ColourLevel } from '../dress/colour-level.js';
import { dressLine } from '../dress/dress.js';
import { createTheme } from '../dress/theme.js';
import type { History } from '../exchange/history.js';
import { paneLines } from '../story/pane-lines.js';
import { panesOf } from '../story/panes.js';
import { stepLine } from '../story/step-line.js';
import { stepsOf } from '../story/steps/index.js';
import { warningsOf } from '../story/warnings.js';
import { writeOut } from '../system/output.js';
import { bareUrl } from '../text/redact.js';
import { visibleLine } from '../text/visible.js';
import type { Ending, Paper, Reporter } from './reporter.js';
import { troubleText, warningText } from './trouble.js';
import { urgentTeller } from './urgent.js';

/** The story of the live view in lines, for pipes, logs and screen readers: steps as they happen, then the two panes. */
export function plainReporter(
  history: History,
  paper: Paper,
  supports: ReadonlySet<string>,
  { level, isTTY }: { readonly level: ColourLevel; readonly isTTY: boolean },
): Reporter {
  const theme = createTheme(level);
  const told = new Set<string>();
  const urgent = isTTY ? null : urgentTeller(history, paper);
  const tell = () => {
    for (const step of stepsOf(history)) {
      if (step.state === 'running' || told.has(step.key)) continue;
      told.add(step.key);
      const line = dressLine(stepLine(step), theme);
      paper.stdout.write(`${isTTY ? line : withoutAuthQueries(line, history)}\n`);
    }
  };
  return {
    event(event) {
      urgent?.(event);
      tell();
    },
    async settled({ exchange }: Ending) {
      const panes = exchange ? panesOf(exchange, supports) : null;
      if (!panes) return;
      for (const pane of [panes.human, panes.llm]) {
        const lines = paneLines(pane, Number.POSITIVE_INFINITY).lines.map(line => dressLine(line, theme));
        await writeOut(paper.stdout, `\n${lines.join('\n')}\n`);
      }
      await writeOut(paper.stdout, '\n');
    },
    async end({ exchange, notes, trouble }: Ending) {
      const panes = exchange ? panesOf(exchange, supports) : null;
      const warnings = [...notes, ...warningsOf(history, exchange), ...(panes?.warnings ?? [])];
      if (!paper.quiet) for (const warning of warnings) paper.stderr.write(warningText(warning));
      if (trouble) paper.stderr.write(troubleText(trouble));
    },
  };
}

/** In a file or a pipe this is a log, and a consent URL whole belongs before the user only (RT-OAUTH). */
function withoutAuthQueries(line: string, { exchanges }: History): string {
  const messages = [...exchanges.values()].flatMap(({ arrivals }) => arrivals.map(({ message }) => message));
  const urls = messages.flatMap(message => (message?.type === 'oauth' ? [message.auth_url] : []));
  return urls.reduce((clean, url) => clean.replaceAll(visibleLine(url), bareUrl(url)), line);
}
