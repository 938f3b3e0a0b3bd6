import fc from 'fast-check';
import stringWidth from 'string-width';
import { expect, test } from 'vitest';
import { createMockScreen } from '../../../src/tui/mock/screen.js';
import { anyCharacter } from '../../support/characters.js';
import { fakeClock } from '../../support/fake-clock.js';
import { CALLBACK_URL, delivered, MockEvents, TOKEN } from '../../support/mock-events.js';
import { drawnList } from '../drawn.js';
import { press } from '../workbench/form/support/pressing.js';

const TOOL = { name: 'demo', url: 'http://127.0.0.1:4711', seed: '7f3a', fixtures: 4 };

/** The screen of a mock, and what its keys ask of the mock. */
function openSession(mock: MockEvents, { tool = TOOL, level = 0 as 0 | 2 } = {}) {
  const asked: string[] = [];
  const note = (what: string) => void asked.push(what);
  const session = createMockScreen({
    tool,
    controls: {
      pause: () => note('pause'),
      resume: () => note('resume'),
      redeliver: key => asked.push(`redeliver ${key}`) > 0,
      fire: id => asked.push(`fire ${id}`),
      reload: () => note('reload'),
      quit: () => note('quit'),
    },
    copy: text => ({ text: `copied ${text}`, isBad: false }),
    supports: new Set(['text', 'diff']),
    clock: fakeClock(),
    level,
  });
  for (const event of mock.events) session.event(event);
  mock.log.subscribe(event => session.event(event));
  /** Resolves when something was worked out in the background. */
  const changed = () => {
    const { revision } = session.store.state();
    return new Promise<void>(resolve => {
      session.store.subscribe(() => {
        if (session.store.state().revision > revision) resolve();
      });
    });
  };
  /** @param width of the terminal, if it became narrower since */
  const rows = (columns: number, rows: number, width = columns) =>
    drawnList(session, { columns, rows }, width, level);
  const sees = (columns = 120, height = 24) => rows(columns, height).join('\n');
  const type = (...names: readonly string[]) => {
    for (const name of names) session.press(press(name));
  };
  /** What is read in a tab. */
  const reads = (tab: string) => {
    type(tab);
    return sees(120, 80);
  };
  return { asked, changed, rows, sees, press: type, reads, notice: session.notice };
}

const MOST = 2_000;

test('if the selected call was dropped, the screen says so, and keys change no other call', () => {
  const mock = new MockEvents().receives('call_first').receives('call_second');
  const session = openSession(mock);
  session.press('g', 'r');
  expect(session.asked).toEqual(['redeliver call_first']);
  for (let at = 0; at < MOST; at++) mock.receives(`call_${at}`);
  expect(session.sees()).toContain('The selected call is no longer remembered');
  session.press('r', 'f');
  expect(session.asked).toEqual(['redeliver call_first']);
  session.press('G', 'r');
  expect(session.asked.at(-1)).toBe(`redeliver call_${MOST - 1}`);
  expect(session.sees()).not.toContain('no longer remembered');
});

test('a paste into a search is reported, and runs no keys', () => {
  const session = openSession(new MockEvents().receives('call_first'));
  session.press('/', 'first\nq');
  expect(session.asked).toEqual([]);
  expect(session.sees()).toContain('Ignored, because it was pasted after the end of the line: q');
});

test('a result shows what was sent, and whether the runtime accepted it', () => {
  const mock = new MockEvents();
  const { reads } = openSession(mock);
  mock.receives('a');
  expect(reads('2')).toContain('none was sent yet');
  const sending = mock.sends('a', { type: 'tool_result', text: 'done' });
  expect(reads('2')).toMatch(/HUMAN .* · being sent/);
  sending.answered(20, 500);
  expect(reads('2')).toMatch(/HUMAN .* · not accepted b/);
  mock.receives('b').sends('b', { type: 'tool_result', text: 7 });
  expect(reads('2')).toMatch(/a runtime rejects this result:\n.*text/);
});

test('RT-VIEW: shows the latest accepted view of each type, until it is cleared', () => {
  const view = (content: object) => ({ type: 'view_update', view_type: 'diff', content });
  const patch = (added: string) => ({ patch: `--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+${added}\n` });
  const mock = new MockEvents();
  const { reads } = openSession(mock);
  mock.receives('a');
  expect(reads('5')).toContain('this call shows no views');
  mock.sends('a', view(patch('first'))).answered(10);
  mock.sends('a', view(patch('second'))).answered(20);
  mock.sends('a', view(patch('third'))).answered(30, 500);
  expect(reads('5')).toMatch(/VIEW .*diff, updated 2 times/);
  expect(reads('5')).toContain('second');
  expect(reads('5')).not.toMatch(/first|third/);
  mock.sends('a', view({})).answered(40);
  expect(reads('5')).toContain('this call shows no views');
});

test('threats, row 25: no tab shows the secrets of callback URLs', () => {
  const mock = new MockEvents();
  const { reads, press: type } = openSession(mock);
  delivered(mock, 'a');
  mock
    .receives('b')
    .sends('b', { type: 'view_update', view_type: 'diff', content: { see: CALLBACK_URL } })
    .answered(10);
  mock.sends('b', { type: 'tool_result', text: `see ${CALLBACK_URL}` });
  type('b');
  for (const tab of ['1', '2', '3', '4', '5']) expect(reads(tab)).not.toContain(TOKEN);
  expect(reads('4')).toContain('> POST /invoke');
});

test("the problems are the runtime's", async () => {
  const mock = new MockEvents();
  const { reads, changed } = openSession(mock);
  mock.receives('a', { callback_url: 'nowhere' }).misses('a');
  mock.emit({ kind: 'dropped', what: 'callback', count: 2, why: 'the queue is full' });
  expect(reads('6')).toContain('checking …');
  await changed();
  const text = reads('6');
  expect(text).toContain('✗ RT-FIELDS');
  expect(text).not.toContain('TOOL-');
  expect(text).toContain('no fixture matches this call');
  expect(text).toContain('\n1 call · 1 unmatched · 2 undelivered · 4 fixtures');
});

test('the address of the mock and its keys are visible at any width, however long the names are', () => {
  const mock = new MockEvents();
  delivered(mock, 'call_1');
  for (const keys of [[], ['\r'], ['6'], ['?']]) {
    const session = openSession(mock, { tool: { ...TOOL, name: 'the_toolset_of_'.repeat(4) } });
    session.press(...keys);
    for (const columns of [40, 45, 63, 80, 121, 164, 165, 200]) {
      const rows = session.sees(columns).split('\n');
      expect(rows[0]).toContain(TOOL.url);
      expect(rows.at(-1)).toMatch(/\? keys {3}q quit$|Esc close/);
    }
  }
});

test('a frame of 40 × 8 shows the most important rows and the keys', () => {
  const mock = new MockEvents();
  for (const id of ['a', 'b', 'c', 'd', 'e']) delivered(mock, id);
  expect(openSession(mock).sees(40, 8)).toBe(`demo  http://127.0.0.1:4711
5 calls · 4 fixtures · seed 7f3a
  OPERATION    STATE
  edit_file  ✓ delivered after 200ms
  edit_file  ✓ delivered after 200ms
❯ edit_file  ✓ delivered after 200ms
↑↓ select   ⏎ read   ? keys   q quit`);
});

test('with very many errors in the fixtures it says how many are not shown', () => {
  const session = openSession(new MockEvents());
  session.notice(Array.from({ length: 9 }, (_, fault) => `fault ${fault}`).join('\n'), true);
  expect(session.sees(80)).toContain('fault 2\n… 6 more rows\np pause/resume');
});

test('a terminal that becomes narrower cuts the rows until the next frame', () => {
  const mock = new MockEvents();
  mock.receives('a', { operation: 'pay', arguments: { note: 'x'.repeat(400) } });
  for (const keys of [[], ['2'], ['?']]) {
    const session = openSession(mock);
    session.press(...keys);
    for (const row of session.rows(80, 30, 60)) expect(stringWidth(row)).toBeLessThanOrEqual(60);
  }
});

test('the list is searched by operation, id, thread and fixture', () => {
  const mock = new MockEvents();
  mock.receives('a', { operation: 'pay' }).matches('a', 'paid');
  for (const id of ['b', 'c']) delivered(mock, id);
  for (const wanted of ['pay', 'PAID']) {
    const session = openSession(mock);
    session.press('/', wanted, '\r');
    expect(session.sees(80)).toMatch(/❯ .* pay /);
  }
});

test('no row is wider than the terminal, and there is one row less than it has', () => {
  const unit = fc.oneof(
    fc.constantFrom('漢', '\n', '\u001b', '\u202e', 'e\u0301', '1\u20e3', ' '),
    fc.string({ unit: anyCharacter, maxLength: 3 }),
  );
  const text = fc.string({ unit, minLength: 1, maxLength: 60 });
  const size = fc.record({
    columns: fc.integer({ min: 40, max: 220 }),
    rows: fc.integer({ min: 8, max: 60 }),
  });
  const keys = fc.array(fc.constantFrom('\t', ...'12345bmw k?G/'), { maxLength: 6 });
  fc.assert(
    fc.property(text, text, text, size, keys, (operation, words, notice, { columns, rows }, pressed) => {
      const mock = new MockEvents();
      for (const id of ['a', words, 'c']) delivered(mock, id);
      mock.receives('d', { operation, arguments: { [words]: words } }).matches('d', words);
      mock.sends('d', words);
      const session = openSession(mock, { level: 2 });
      session.press(...pressed);
      session.notice(notice, true);
      const shown = session.rows(columns, rows);
      expect(shown).toHaveLength(rows - 1);
      for (const row of shown) expect(stringWidth(row)).toBeLessThanOrEqual(columns);
    }),
    { numRuns: 20 },
  );
});
