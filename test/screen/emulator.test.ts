import { expect, test } from 'vitest';
import { Emulator } from './support/emulator.js';

const BEGIN = '\u001b[?2026h';
const END = '\u001b[?2026l';

test('of a frame that is half drawn nothing is seen', async () => {
  const emulator = new Emulator({ columns: 20, rows: 2 });
  await emulator.write(`${BEGIN}first`);
  const seen = emulator
    .waitFor('the first row', () => emulator.text().includes('first'))
    .then(() => emulator.text());
  await emulator.write(`\r\nsecond`);
  await emulator.write(END);
  expect(await seen).toBe('first\nsecond');
});
