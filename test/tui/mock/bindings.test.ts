import { describe, expect, test } from 'vitest';
import { keyLines } from '../../../src/tui/keys.js';
import { BINDINGS, commandOf, keyTables } from '../../../src/tui/mock/actions.js';
import { words } from '../../support/words.js';

describe("the table of the mock's keys", () => {
  test.each(['everywhere', 'calls', 'reading'] as const)('has no key twice in %s', place => {
    const keys = BINDINGS.filter(binding => binding.place === place).flatMap(({ keys: own }) => own);
    expect(keys).toEqual([...new Set(keys)]);
  });

  test.each(['list', 0] as const)('hides no key of everywhere where the focus is on %s', focus => {
    for (const { keys, command, place } of BINDINGS)
      if (place === 'everywhere')
        for (const key of keys) expect([key, commandOf(key, focus)]).toEqual([key, command]);
  });

  test('has the doings of a mock wherever one is', () => {
    for (const focus of ['list', 0] as const)
      expect(['p', 'r', 'e', 'R', '1', '6', 'q', 'ctrl+c'].map(key => commandOf(key, focus))).toEqual([
        'pause',
        'replay',
        'fire',
        'reload',
        'tab1',
        'tab6',
        'quit',
        'quit',
      ]);
  });

  test('has none that means nothing', () => {
    expect(['x', 'P', '', 'qq'].map(key => commandOf(key, 'list'))).toEqual(Array(4).fill(undefined));
  });

  test('is all in the help', () => {
    const help = keyLines(keyTables()).map(words);
    for (const { label, does } of BINDINGS)
      expect(help.filter(line => line.includes(label) && line.includes(does))).not.toEqual([]);
  });
});
