import { expect, test } from 'vitest';
import { onOneLine } from '../../src/util/json-format.js';

test.each([
  ['{\n  "a": 1.0,\r\n  "b c": [ 12345678901234567890 ]\n}', '{"a":1.0,"b c":[12345678901234567890]}'],
  [' {"a": 1.0}\t', '{"a": 1.0}'],
])('%j on one line', (text, line) => {
  expect(onOneLine(text)).toBe(line);
});
