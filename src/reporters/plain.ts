import { dressLine } from '../dress/dress.js';
import { createTheme } from '../dress/theme.js';
import type { History } from '../exchange/history.js';
import { paneLines } from '../story/pane-lines.js';
import { panesOf } from '../story/panes.js';
import { stepLine } from '../story/step-line.js';
import { stepsOf } from '../story/steps/index.js';
import { warningsOf } from '../story/warnings.js';
import { writeOut } from '../system/output.js';
import type { Ending, Paper, Reporter } from './reporter.js';
import { troubleText, warningText } from './trouble.js';

/** The story of the live view in lines, for pipes, logs and screen readers: steps as they happen, then the two panes. */
export function plainReporter(
  history: History,
  paper: Paper,
  supports: ReadonlySet<string>,
  level: 0 | 1 | 2 | 3,
): Reporter {
  const theme = createTheme(level);
  const told = new Set<string>();
  const tell = () => {
    for (const step of stepsOf(history)) {
      if (step.state === 'running' || told.has(step.key)) continue;
      told.add(step.key);
      paper.stdout.write(`${dressLine(stepLine(step), theme)}\n`);
    }
  };
  return {
    event: tell,
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
