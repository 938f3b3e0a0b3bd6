import { describe, expect, test } from 'vitest';
import { keyLines } from '../../../../src/tui/keys.js';
import { BINDINGS, commandOf, keyTables, type Place } from '../../../../src/tui/workbench/keys.js';

/** The places whose keys mean something together, the first one first. */
const TOGETHER: readonly (readonly Place[])[] = [
  ['tools', 'everywhere'],
  ['calls', 'everywhere'],
  ['reading', 'calls', 'everywhere'],
];

describe('the table of keys', () => {
  test.each(['everywhere', 'tools', 'calls', 'reading', 'form'] as const)('has no key twice in %s', place => {
    const keys = BINDINGS.filter(binding => binding.place === place).flatMap(({ keys: own }) => own);
    expect(keys).toEqual([...new Set(keys)]);
  });

  test.each(TOGETHER.map(places => [places.join(' and '), places] as const))(
    'hides no key of everywhere behind one of %s',
    (_, places) => {
      const global = BINDINGS.filter(({ place }) => place === 'everywhere');
      for (const { keys, command } of global)
        for (const key of keys) expect([key, commandOf(key, places)]).toEqual([key, command]);
    },
  );

  test('reaches the doings of a call while it is read, but for those that scroll there', () => {
    const hidden = BINDINGS.filter(({ place }) => place === 'calls').flatMap(({ keys, command }) =>
      keys.filter(key => commandOf(key, ['reading', 'calls']) !== command),
    );
    expect(hidden).toEqual(['k', 'up', 'j', 'down', 'g', 'home', 'G', 'end', 'right']);
  });

  test('says every key in its label', () => {
    const shown = new Map([
      ['enter', '⏎'],
      ['up', '↑'],
      ['down', '↓'],
      ['left', '←'],
      ['right', '→'],
      ['pageup', 'PgUp'],
    ]);
    for (const { keys, label } of BINDINGS)
      for (const key of keys.filter(each => each.length === 1 || shown.has(each)))
        expect(label).toContain(shown.get(key) ?? key);
  });

  test('is all in the help', () => {
    const help = keyLines(keyTables()).map(line => line.map(({ text }) => text).join(''));
    for (const { label, does } of BINDINGS)
      expect(help.filter(line => line.includes(label) && line.includes(does))).not.toEqual([]);
  });
});
