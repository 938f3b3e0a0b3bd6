import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, test } from 'vitest';
import { createTheme } from '../../src/dress/theme.js';
import { NO_CALLS, stepTally } from '../../src/story/tool-calls/index.js';
import { FIRST_VIEW, type View } from '../../src/ui/list/view.js';
import { type Frame, frameOf, type Scene } from '../../src/ui/mock/frame.js';
import { Details } from '../../src/ui/scrolled-rows.js';
import { anyCharacter } from '../support/characters.js';
import { delivered, MockStory } from '../support/mock-story.js';

const TOOL = { name: 'demo', url: 'http://127.0.0.1:4711', seed: '7f3a', fixtures: 4 };

function sceneOf(story: MockStory, view: Partial<View> = {}, more: Partial<Scene> = {}): Scene {
  const tally = story.events.reduce(stepTally, NO_CALLS);
  const calls = story.calls.list;
  return {
    tool: TOOL,
    calls,
    tally,
    view: { ...FIRST_VIEW, ...view },
    isPaused: false,
    notices: [],
    now: 9_000,
    ...more,
  };
}

function draw(scene: Scene, columns: number, rows: number, level: 0 | 2 = 0): Frame {
  const theme = createTheme(level);
  return frameOf(scene, { columns, rows }, { theme, details: new Details(theme) });
}

const textOf = (scene: Scene, columns: number, rows: number) =>
  draw(scene, columns, rows)
    .rows.map(row => row.trimEnd())
    .join('\n');

describe('a frame', () => {
  test('at 120 columns: the list, and the selected call beside it', () => {
    const story = new MockStory();
    delivered(story, 'call_1');
    story.at(8_000).receives('call_2', { operation: 'pay' }).misses('call_2');
    expect(textOf(sceneOf(story, { selected: 'call_1' }), 120, 20)).toBe(
      `demo  http://127.0.0.1:4711
2 calls · 1 unmatched · 4 fixtures · seed 7f3a

     TIME  OPERATION  ID      ANSWERED BY    STATE                    │ edit_file call_1 (thread_a)
❯  0:01.0  edit_file  call_1  edit-main    ✓ delivered after 200ms    │ callback  http://127.0.0.1:4000/…
   0:08.0  pay        call_2  no fixture   … waiting 1s               │ received  at 0:01.0 answered 200 in 0ms
                                                                      │ answer    edit-main
                                                                      │
                                                                      │ ARGUMENTS
                                                                      │ {
                                                                      │   "path": "a.txt"
                                                                      │ }
                                                                      │
                                                                      │ TOOL_RESULT ✓ answered 200 in 10ms at 0:01.1
                                                                      │ {
                                                                      │   "group_id": "thread_a",
                                                                      │ … 4 more rows

↑↓ select   ⏎ details   r replay   e fire   p pause   G follow   ? keys   q quit`,
    );
  });

  test('at 80 columns: the call below the list', () => {
    const story = new MockStory();
    delivered(story, 'call_1');
    const rows = textOf(sceneOf(story), 80, 24).split('\n');
    expect(rows[4]).toMatch(/^❯ {2}0:01\.0 {2}edit_file {2}call_1/);
    expect(rows[5]).toBe('─'.repeat(80));
    expect(rows[6]).toBe('edit_file call_1 (thread_a)');
  });

  test('in 40 × 8: what matters most, and still how to go on', () => {
    const story = new MockStory();
    for (const id of ['a', 'b', 'c', 'd', 'e']) delivered(story, id);
    expect(textOf(sceneOf(story), 40, 8)).toBe(`demo  http://127.0.0.1:4711
5 calls · 4 fixtures · seed 7f3a
  OPERATION    STATE
  edit_file  ✓ delivered after 200ms
  edit_file  ✓ delivered after 200ms
❯ edit_file  ✓ delivered after 200ms
↑↓ select   ⏎ details   ? keys   q quit`);
  });

  test('before the first call says how to make one', () => {
    expect(textOf(sceneOf(new MockStory()), 80, 24)).toContain('protocol-cli invoke http://127.0.0.1:4711');
  });

  test('says that deliveries are held back, and what there is to say', () => {
    const notices = [[{ text: '5 fixtures read again', tone: 'good' }] as const];
    const text = textOf(sceneOf(new MockStory(), {}, { isPaused: true, notices }), 80, 24);
    expect(text).toContain('‖ deliveries are held back · 0 calls');
    expect(text).toContain('5 fixtures read again\n↑↓ select');
    expect(text).toContain('p resume');
  });

  test('the help names every key', () => {
    const text = textOf(sceneOf(new MockStory(), { page: 'help' }), 80, 24);
    for (const key of ['↑ k', '↓ j', 'End G', '⏎ Tab', 'PgUp', 'PgDn', 'p ', 'r ', 'e ', 'q Ctrl-C'])
      expect(text).toContain(`\n${key}`);
  });
});

describe('the details', () => {
  test('fill the screen when asked to, and can be read to their end', () => {
    const story = new MockStory();
    delivered(story, 'a');
    const view = { page: 'details', selected: 'a' } as const;
    const { most, height } = draw(sceneOf(story, view), 80, 16);
    expect(most).toBeGreaterThan(0);
    const end = draw(sceneOf(story, { ...view, scroll: most + 99 }), 80, 16).rows.map(row => row.trimEnd());
    expect(end.slice(-3)).toEqual([
      '  "text": "done"',
      '}',
      '↑↓ select   ⏎ list   r replay   e fire   p pause   G follow   ? keys   q quit',
    ]);
    expect(height).toBe(12);
  });

  test('are laid out once for as long as the call stays what it is', () => {
    const story = new MockStory().receives('a');
    const details = new Details(createTheme(0));
    const first = details.rowsOf(story.call('a'), 80);
    expect(details.rowsOf(story.call('a'), 80)).toBe(first);
    expect(details.rowsOf(story.call('a'), 79)).not.toBe(first);
    story.matches('a', 'one');
    expect(details.rowsOf(story.call('a'), 79).join('\n')).toContain('one');
  });
});

describe('time', () => {
  test.each([
    ['goes on where a call that is seen waits', (story: MockStory) => story.receives('a'), true],
    ['stands still where all is over', (story: MockStory) => delivered(story, 'a'), false],
  ])('%s', (_, tell, isRunning) => {
    const story = new MockStory();
    tell(story);
    expect(draw(sceneOf(story), 80, 24).isRunning).toBe(isRunning);
  });
});

test('whatever comes, no row is wider than the terminal, and there is one row less than it has', () => {
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
  const page = fc.constantFrom<View['page']>('list', 'details', 'help');
  fc.assert(
    fc.property(
      text,
      text,
      text,
      size,
      page,
      fc.nat(40),
      (operation, words, notice, { columns, rows }, page, scroll) => {
        const story = new MockStory();
        for (const id of ['a', words, 'c']) delivered(story, id);
        story.receives('d', { operation, arguments: { [words]: words } }).matches('d', words);
        story.sends('d', words);
        const scene = sceneOf(
          story,
          { page, scroll },
          { notices: [[{ text: notice.replaceAll(/\P{L}/gu, ''), tone: 'warn' }]] },
        );
        const frame = draw(scene, columns, rows, 2);
        expect(frame.rows).toHaveLength(rows - 1);
        for (const row of frame.rows) expect(stringWidth(row)).toBeLessThanOrEqual(columns);
      },
    ),
    { numRuns: 150 },
  );
});

test('2,000 calls cost what a screenful does', () => {
  const story = new MockStory();
  for (let id = 0; id < 3_000; id++) story.receives(`call_${id}`);
  const scene = sceneOf(story);
  expect(scene.calls).toHaveLength(2_000);
  draw(scene, 120, 40);
  const start = performance.now();
  for (let frame = 0; frame < 20; frame++) draw(scene, 120, 40);
  expect((performance.now() - start) / 20).toBeLessThan(500);
});
