import { expect, test } from 'vitest';
import { selectedIndex } from '../../../src/commands/invoke/choices.js';
import type { UserChoice } from '../../../src/protocol/callbacks/index.js';
import { CHOICE } from '../../exchange/build.js';

const choice = { ...CHOICE, choices: ['staging', 'production', '0', 'Default'], default: 1 } as UserChoice;

test.each([
  ['default', 1],
  ['staging', 0],
  ['production', 1],
  ['1', 1],
  ['3', 3],
  ['0', 2],
  ['Default', 3],
  ['4', null],
  ['-1', null],
  ['1.0', null],
  ['', null],
  ['Production', null],
])('RT-CHOICE: --choose %j picks %j', (choose, index) => {
  expect(selectedIndex(choose, choice)).toBe(index);
});
