import { cutLine } from '../../../../dress/cut-line.js';
import { dressLine } from '../../../../dress/dress.js';
import type { Theme } from '../../../../dress/theme.js';
import type { Line } from '../../../../story/line.js';
import { say } from '../../../../story/spans.js';
import { isOnRun } from '../focus.js';
import type { Form } from '../form.js';
import type { Row } from '../stops.js';
import { MARK } from './row-line.js';

/** So many are seen at a glance; of more it is told where one stands. */
const FEW = 10;

/** The last stop, where Enter makes the call; beside it how far one is, and how much is wrong. */
export function runRow(form: Form, fields: readonly Row[], columns: number, theme: Theme): string {
  const isFocused = isOnRun(form);
  const mark = say(isFocused ? MARK : ' '.repeat(MARK.length), 'running');
  const run = say('▶ Run', isFocused ? 'title' : 'plain');
  return dressLine(cutLine([mark, run, ...placeOf(form, fields), ...faultsOf(form)], columns), theme);
}

function placeOf({ focus }: Form, fields: readonly Row[]): Line {
  const stops = fields.filter(({ isStop }) => isStop).length;
  return stops > FEW && focus < stops ? [say(`   field ${focus + 1} of ${stops}`, 'dim')] : [];
}

function faultsOf({ faults: { length } }: Form): Line {
  return length === 0 ? [] : [say(`   ${length} ${length === 1 ? 'fault' : 'faults'}`, 'bad')];
}
