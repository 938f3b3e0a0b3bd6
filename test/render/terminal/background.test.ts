import { expect, test } from 'vitest';
import { backgroundOf } from '../../../src/render/terminal/background.js';

test.each([
  [undefined, 'dark'],
  ['', 'dark'],
  ['15;0', 'dark'],
  ['7;8', 'dark'],
  ['0;15', 'light'],
  ['0;7', 'light'],
  ['0;default;15', 'light'],
  ['15;default', 'dark'],
  ['0;231', 'dark'],
] as const)('COLORFGBG %j is %s', (COLORFGBG, background) => {
  expect(backgroundOf({ COLORFGBG })).toBe(background);
});
