import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, test } from 'vitest';
import { MockView } from '../../src/tui/mock/screen.js';
import { anyCharacter } from '../support/characters.js';
import { fakeClock } from '../support/fake-clock.js';
import { delivered, MockStory } from '../support/mock-story.js';
import { drawn } from '../tui/drawn.js';
import { press as typed } from '../tui/workbench/form/support/pressing.js';

const TOOL = { name: 'demo', url: 'http://127.0.0.1:4711', seed: '7f3a', fixtures: 4 };
function press(session: MockView, ...keys: readonly string[]): void {
  for (const key of keys) session.press(typed(key));
}

/** A screen that has heard a story, and after it these keys. */
function sessionOf(story: MockStory, keys: readonly string[] = [], level: 0 | 2 = 0, tool = TOOL): MockView {
  const clock = fakeClock();
  const controls = {
    pause() {},
    resume() {},
    redeliver: () => true,
    fire: () => 0,
    reload() {},
    quit() {},
  };
  const session = new MockView(
    { tool, controls, clock, level, supports: new Set(['diff', 'text']) },
    () => {},
  );
  clock.advance(9_000);
  for (const event of story.events) session.event(event);
  clock.advance(9_000 - (story.events.at(-1)?.at ?? 9_000));
  press(session, ...keys);
  return session;
}

test('the address of the mock and its keys are visible at any width, however long the names are', () => {
  const story = new MockStory();
  delivered(story, 'call_1');
  for (const keys of [[], ['\r'], ['6'], ['?']]) {
    const session = sessionOf(story, keys, 0, { ...TOOL, name: 'the_toolset_of_'.repeat(4) });
    for (const columns of [40, 45, 63, 80, 121, 164, 165, 200]) {
      const rows = textOf(session, columns, 24).split('\n');
      expect(rows[0]).toContain(TOOL.url);
      expect(rows.at(-1)).toMatch(/\? keys {3}q quit$|Esc close/);
    }
  }
});

const textOf = (session: MockView, columns: number, rows: number) =>
  drawn(session, { columns, rows }).join('\n');

describe('a frame', () => {
  test('in 40 × 8 shows the most important rows and the keys', () => {
    const story = new MockStory();
    for (const id of ['a', 'b', 'c', 'd', 'e']) delivered(story, id);
    expect(textOf(sessionOf(story), 40, 8)).toBe(`demo  http://127.0.0.1:4711
5 calls · 4 fixtures · seed 7f3a
  OPERATION    STATE
  edit_file  ✓ delivered after 200ms
  edit_file  ✓ delivered after 200ms
❯ edit_file  ✓ delivered after 200ms
↑↓ select   ⏎ read   ? keys   q quit`);
  });

  test('with very many errors in the fixtures says how many are not shown', () => {
    const session = sessionOf(new MockStory());
    session.notice(Array.from({ length: 9 }, (_, fault) => `fault ${fault}`).join('\n'), true);
    expect(textOf(session, 80, 24)).toContain('fault 2\n… 6 more rows\np pause/resume');
  });
});

test('a terminal that becomes narrower cuts the rows until the next frame', () => {
  const story = new MockStory();
  story.receives('a', { operation: 'pay', arguments: { note: 'x'.repeat(400) } });
  for (const keys of [[], ['2'], ['?']])
    for (const row of drawn(sessionOf(story, keys), { columns: 80, rows: 30 }, 60))
      expect(stringWidth(row)).toBeLessThanOrEqual(60);
});

test('the list is searched by operation, id, thread and fixture', () => {
  const story = new MockStory();
  story.receives('a', { operation: 'pay' }).matches('a', 'paid');
  for (const id of ['b', 'c']) delivered(story, id);
  for (const wanted of ['pay', 'PAID']) {
    const session = sessionOf(story, ['/', wanted, '\r']);
    expect(textOf(session, 80, 24)).toMatch(/❯ .* pay /);
  }
});

test('no row is wider than the terminal, and there is one row less than it has', () => {
  const text = fc.string({
    unit: fc.oneof(
      fc.constantFrom('漢', '\n', '\u001b', '\u202e', 'e\u0301', '1\u20e3', ' '),
      fc.string({ unit: anyCharacter, maxLength: 3 }),
    ),
    minLength: 1,
    maxLength: 60,
  });
  const size = fc.record({
    columns: fc.integer({ min: 40, max: 220 }),
    rows: fc.integer({ min: 8, max: 60 }),
  });
  const keys = fc.array(
    fc.constantFrom('\t', '1', '2', '3', '4', '5', 'b', 'm', 'w', ' ', 'k', '?', 'G', '/'),
    {
      maxLength: 6,
    },
  );
  fc.assert(
    fc.property(text, text, text, size, keys, (operation, words, notice, { columns, rows }, pressed) => {
      const story = new MockStory();
      for (const id of ['a', words, 'c']) delivered(story, id);
      story.receives('d', { operation, arguments: { [words]: words } }).matches('d', words);
      story.sends('d', words);
      const session = sessionOf(story, pressed, 2);
      session.notice(notice, true);
      const shown = drawn(session, { columns, rows });
      expect(shown).toHaveLength(rows - 1);
      for (const row of shown) expect(stringWidth(row)).toBeLessThanOrEqual(columns);
    }),
    { numRuns: 20 },
  );
});
