import { expect, test } from 'vitest';
import { colourOf } from '../../../src/render/terminal/svg.js';

test.each([
  [1, '#ff7b72'],
  [15, '#ffffff'],
  [16, '#000000'],
  [22, '#005f00'],
  [88, '#870000'],
  [231, '#ffffff'],
  [232, '#080808'],
  [255, '#eeeeee'],
])('%i is %s', (number, colour) => {
  expect(colourOf(number)).toBe(colour);
});

test('each of the 256 is a colour', () => {
  for (let number = 0; number < 256; number++) expect(colourOf(number)).toMatch(/^#[\da-f]{6}$/);
});
