import { describe, expect, test } from 'vitest';
import { type Keys, type Place, pressesIn, pressOf } from '../../src/tui/keys.js';
import { MOCK_KEYS } from '../../src/tui/mock/screen.js';
import { answerKeys } from '../../src/tui/session/answer.js';
import { PLATFORM_KEYS } from '../../src/tui/session/platform.js';
import { WORKBENCH_KEYS } from '../../src/tui/workbench/keys.js';

/** Places whose keys work at the same time, the first one first. */
const TOGETHER: readonly (readonly Place[])[] = [
  ['tools', 'list', 'everywhere'],
  ['list', 'calls', 'everywhere'],
  ['reading', 'tools', 'everywhere'],
  ['reading', 'calls', 'everywhere'],
];

describe.each<[string, Keys<never>]>([
  ['the workbench', WORKBENCH_KEYS],
  ['a mock', MOCK_KEYS],
  ['a platform', PLATFORM_KEYS],
  ['an answered session', answerKeys(true)],
])('the keys of %s', (_, table) => {
  const { bindings } = table;
  test('are different in each place', () => {
    for (const place of ['everywhere', 'list', 'tools', 'calls', 'reading', 'form']) {
      const keys = bindings.filter(binding => binding.place === place).flatMap(({ keys: own }) => own);
      expect(keys).toEqual([...new Set(keys)]);
    }
  });

  test('work in every place that they are meant for, except Esc', () => {
    const wide = bindings.filter(({ place }) => place === 'everywhere' || place === 'calls');
    const hidden = wide.flatMap(binding =>
      TOGETHER.filter(places => places.includes(binding.place)).flatMap(places =>
        binding.keys.filter(key => key !== 'escape' && table.find(key, places) !== binding),
      ),
    );
    expect(hidden).toEqual([]);
  });
});

test('a key of both the workbench and the mock does the same, except where the mock repeats', () => {
  for (const { place, keys, does } of MOCK_KEYS.bindings.filter(each => each.place !== 'everywhere'))
    for (const key of keys.filter(each => !/^[r\d]$/.test(each))) {
      const other = WORKBENCH_KEYS.find(key, [place])?.does;
      expect([key, other ?? does]).toEqual([key, does]);
    }
});

test.each([
  ['keys', 'jj\r?', ['j', 'j', 'enter', '?']],
  ['keys', 'jj\u0003', ['j', 'j', 'ctrl+c']],
  ['line', 'watch\rjj', ['watch', 'enter', 'jj']],
  ['line', 'src/\tmain\nq', ['src/', 'tab', 'main', 'enter', 'q']],
  ['text', 'src/main.rs\r', ['src/main.rs', 'enter']],
  ['text', 'two\nlines\r', ['two\nlines\r']],
  ['text', '12\b\u0012', ['12', 'erase', 'ctrl+r']],
  ['text', '\b\u0015main\t', ['erase', 'ctrl+u', 'main', 'tab']],
] as const)('where %s are typed, %j at once is %j', (typing, input, keys) => {
  expect(pressesIn(pressOf(input), typing).map(press => press.name || press.text)).toEqual(keys);
});

test.each([
  ['keys', []],
  ['line', ['q\rq\r']],
  ['text', ['q\rq\r']],
] as const)('where %s are typed, pasted text is %j', (typing, texts) => {
  const presses = pressesIn({ name: '', text: 'q\rq\r', isPaste: true }, typing);
  expect(presses.map(({ text }) => text)).toEqual(texts);
});
