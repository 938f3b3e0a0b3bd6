import { stripVTControlCharacters } from 'node:util';
import { renderToString } from 'ink';
import { expect, test } from 'vitest';
import { say } from '../../src/render/line.js';
import { Picker } from '../../src/tui/components/Picker.js';
import { pickerOf, pressPicker } from '../../src/tui/picker.js';
import { question } from '../screen/support/scenes.js';

const SIZE = { columns: 40, rows: 10 };
const picker = pickerOf(question('Where to?', ['staging', 'production']), [say('deploy asks')]);

test('shows who asks, the question, the choices and the keys', () => {
  const node = <Picker picker={pressPicker(picker, 'down')} size={SIZE} />;
  const frame = stripVTControlCharacters(renderToString(node, { columns: SIZE.columns }));
  expect(frame.split('\n')).toEqual([
    'deploy asks',
    'Where to?',
    '  0 staging (default)',
    '❯ 1 production',
    '↑↓ select   ⏎ choose   Esc default',
  ]);
});
