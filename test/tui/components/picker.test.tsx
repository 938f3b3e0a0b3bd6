import { expect, test } from 'vitest';
import { say } from '../../../src/render/line.js';
import { Picker } from '../../../src/tui/components/Picker.js';
import { pickerOf, pressPicker } from '../../../src/tui/picker.js';
import { question } from '../../screen/support/scenes.js';
import { rowsOf } from '../drawn.js';

const SIZE = { columns: 40, rows: 10 };
const picker = pickerOf(question('Where to?', ['staging', 'production']), [say('deploy asks')]);

test('shows who asks, the question, the choices and the keys', () => {
  expect(rowsOf(<Picker picker={pressPicker(picker, 'down')} size={SIZE} />, SIZE.columns)).toEqual([
    'deploy asks',
    'Where to?',
    '  0 staging (default)',
    '❯ 1 production',
    '↑↓ select   ⏎ choose   Esc default',
  ]);
});
