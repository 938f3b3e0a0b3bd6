import { printed } from '../../dress/dress.js';
import { createTheme } from '../../dress/theme.js';
import { reportLines } from '../../story/checks/report-lines.js';
import { quote, say } from '../../story/spans.js';
import type { CheckFormat } from './format.js';

/** For a person. Every line is safe to print (threats, row 24); rows are broken between words, never in the id of a rule. */
export const humanCheck: CheckFormat = (
  { target, run, record, warnings, whole },
  { level, isQuiet, width },
) => {
  const theme = createTheme(level);
  const heading = [say('check ', 'gutter'), ...quote(target)];
  const lines = [heading, [], ...reportLines(run, { record, warnings, whole, width }, isQuiet)];
  return printed(lines, theme, width);
};
