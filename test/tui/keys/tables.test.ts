import { describe, expect, test } from 'vitest';
import { bindingOf, type KeyBinding, keyLines, type Place } from '../../../src/tui/keys.js';
import { MOCK_KEYS } from '../../../src/tui/mock/screen.js';
import { PLATFORM_KEYS } from '../../../src/tui/session/platform.js';
import { WORKBENCH_KEYS } from '../../../src/tui/workbench/keys.js';
import { workbenchTables } from '../../../src/tui/workbench/workbench.js';
import { words } from '../../support/words.js';

type Binding = KeyBinding<never>;
const TABLES: readonly (readonly [string, readonly Binding[]])[] = [
  ['the workbench', WORKBENCH_KEYS],
  ['a mock', MOCK_KEYS],
  ['a platform', PLATFORM_KEYS],
];
/** Places whose keys work at the same time, the first one first. */
const TOGETHER: readonly (readonly Place[])[] = [
  ['tools', 'list', 'everywhere'],
  ['list', 'calls', 'everywhere'],
  ['reading', 'tools', 'everywhere'],
  ['reading', 'calls', 'everywhere'],
];
const find = (bindings: readonly Binding[], key: string, places: readonly Place[]) =>
  bindingOf(bindings, key, places);

describe.each(TABLES)('the keys of %s', (_, bindings) => {
  test('are different in each place', () => {
    for (const place of ['everywhere', 'list', 'tools', 'calls', 'reading', 'form']) {
      const keys = bindings.filter(binding => binding.place === place).flatMap(({ keys: own }) => own);
      expect(keys).toEqual([...new Set(keys)]);
    }
  });

  test('that work everywhere are hidden nowhere, except Esc', () => {
    for (const binding of bindings.filter(({ place }) => place === 'everywhere'))
      for (const key of binding.keys.filter(each => each !== 'escape'))
        for (const places of TOGETHER) expect(find(bindings, key, places)).toBe(binding);
  });

  test('about a call work in the list and while it is read', () => {
    for (const binding of bindings.filter(({ place }) => place === 'calls'))
      for (const key of binding.keys)
        for (const places of [TOGETHER[1] ?? [], TOGETHER[3] ?? []])
          expect(find(bindings, key, places)).toBe(binding);
  });

  test('are all in their labels', () => {
    const shown = new Map([
      ['enter', '⏎'],
      ['up', '↑'],
      ['down', '↓'],
      ['left', '←'],
      ['right', '→'],
      ['pageup', 'PgUp'],
    ]);
    for (const { keys, label } of bindings)
      for (const key of keys.filter(each => each.length === 1 || shown.has(each)))
        expect(label).toContain(shown.get(key) ?? key);
  });

  test('that are unknown do nothing', () => {
    for (const key of ['P', '', 'qq', 'meta+q'])
      expect(find(bindings, key, TOGETHER[1] ?? [])).toBeUndefined();
  });
});

test('the help has all keys', () => {
  const help = keyLines(workbenchTables(WORKBENCH_KEYS)).map(words);
  for (const { label, does } of WORKBENCH_KEYS)
    expect(help.filter(line => line.includes(label) && line.includes(does))).not.toEqual([]);
});

test('a key of both the workbench and a mock does the same in both, except where the mock sends', () => {
  const own = new Set(['r', 'e']); // the mock repeats a delivery, and sends an event
  for (const { place, keys, does } of MOCK_KEYS.filter(({ place }) => place !== 'everywhere'))
    for (const key of keys.filter(each => !own.has(each) && !/^\d$/.test(each)))
      expect([key, find(WORKBENCH_KEYS, key, [place])?.does]).toEqual([key, does]);
});
