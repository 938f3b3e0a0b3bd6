import { dressLine } from '../../dress/dress.js';
import { createTheme } from '../../dress/theme.js';
import { reportLines } from '../../story/checks/report-lines.js';
import { quote, say } from '../../story/spans.js';
import type { CheckFormat } from './format.js';

/** For a person. Every line is safe to print (threats, row 24). */
export const humanCheck: CheckFormat = ({ target, run, record, warnings }, { level, isQuiet }) => {
  const theme = createTheme(level);
  const heading = [say('check ', 'dim'), ...quote(target)];
  const lines = [heading, [], ...reportLines(run, { record, warnings }, isQuiet)];
  return lines.map(line => `${dressLine(line, theme)}\n`).join('');
};
