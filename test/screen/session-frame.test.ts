import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, test } from 'vitest';
import type { Event } from '../../src/events/events.js';
import type { Exchange } from '../../src/events/exchange.js';
import { History } from '../../src/events/history.js';
import { Sessions } from '../../src/events/session-calls.js';
import type { OAuth, UserChoice } from '../../src/protocol/callbacks.js';
import { panesOf } from '../../src/render/panes.js';
import { createTheme } from '../../src/render/terminal/theme.js';
import type { Frame } from '../../src/tui/live/frame.js';
import { openPicker } from '../../src/tui/picker.js';
import { answerFrame } from '../../src/tui/session/answer.js';
import { PlatformView } from '../../src/tui/session/platform.js';
import { at, CHOICE, eventsOf, type Moment, OAUTH } from '../events/build.js';
import {
  answered,
  answers,
  awaiting,
  BASE,
  CLIENT_STORY,
  failure,
  LOOKUP,
  NAMELESS,
  posts,
  result,
  SESSION,
  status,
} from '../events/session/build.js';
import { callOf, legTo } from '../render/session/legs.js';
import { anyCharacter } from '../support/characters.js';
import { fakeClock } from '../support/fake-clock.js';
import { press } from '../tui/workbench/form/support/pressing.js';

type Story = readonly (readonly Moment[])[];
const SIZE = { columns: 80, rows: 24 };
const AROUND = { status: [], views: [], panes: null, picker: null };

function foldAll(events: readonly Event[]) {
  const known = { sessions: new Sessions(), history: new History() };
  for (const event of events) {
    known.sessions.apply(event);
    known.history.apply(event);
  }
  return known;
}

/** What is drawn of a session that is answered. */
function draw(
  story: Story,
  size = SIZE,
  now = 5_000,
  level: 0 | 2 = 0,
  asks: UserChoice | OAuth | null = null,
): Frame {
  const known = foldAll(eventsOf(...story));
  const panes = (exchange: Exchange) => panesOf(exchange, new Set(['diff', 'text']));
  const about = { id: SESSION, url: `${BASE}/${SESSION}`, isOver: asks === null };
  const picker = asks?.type === 'user_choice' ? openPicker(asks) : null;
  const scene = { ...about, known, asks, now, panesOf: panes };
  return answerFrame(scene, { ...AROUND, picker }, size, createTheme(level));
}

const rowsOf = ({ steps, views, panes }: Frame) =>
  [...steps, ...views, ...(panes?.human ?? []), ...(panes?.llm ?? [])].map(row => row.trimEnd());
const stateOf = (story: Story, now = 5_000) =>
  draw(story, { columns: 120, rows: 24 }, now).steps.at(-1)?.trimEnd();

describe('a session that is answered', () => {
  test('before the platform has reported it', () => {
    expect(rowsOf(draw([], SIZE, 1_200))).toEqual([
      'session session_1  http://127.0.0.1:4000',
      '… asking the platform 1.2s',
    ]);
  });

  test('from its head to the answer of its agent', () => {
    const story = CLIENT_STORY.map((moments, index) => at(index * 100, moments));
    expect(rowsOf(draw(story, { columns: 100, rows: 24 }))).toEqual([
      'session session_1  http://127.0.0.1:4000',
      '✓ completed after 800ms · 1 round · 2 of 2 calls answered',
      '2 calls: 1 success, 1 error',
      '     TIME  TOOL          ARGUMENTS          ID        STATE',
      '   0:00.2  lookup_order  {"order_id":"A1"}  call_1  ✓ success, posted 202 after 400ms',
      '❯  0:00.2  lookup_order                     #1      ✗ error, posted 202 after 400ms',
      'LLM text, 15 bytes',
      'Order not found',
      'ANSWER of the agent',
      'Your order is shipped',
    ]);
  });

  test('in 40 × 8: the session, its latest call, and what it came to', () => {
    const rows = rowsOf(draw(CLIENT_STORY, { columns: 40, rows: 8 }));
    expect(rows[0]).toBe('session session_1  http://127.0.0.1:4000');
    expect(rows.some(row => /^❯ lookup_order +✗ error/.test(row))).toBe(true);
  });

  test('at 160 columns shows what the human sees beside what the LLM gets, of the call that was answered last', () => {
    const [one, two] = [callOf('call_1'), callOf('call_2')];
    const diff = {
      type: 'diff',
      content: { path: 'a.txt', patch: '--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-a\n+b\n' },
    };
    const message = { type: 'tool_result', id: 'call_2', text: 'edited', display_as: [diff] };
    const story = [
      awaiting([one, two]),
      ...legTo('call_1'),
      answered(one, result(one, 'shipped')),
      ...legTo('call_2', message),
      answered(two, result(two, 'edited')),
    ];
    const { panes, steps } = draw(story, { columns: 160, rows: 30 });
    expect(panes?.isSideBySide).toBe(true);
    expect(panes?.human.join('\n')).toContain('a.txt +1 −1');
    expect(panes?.llm.map(row => row.trimEnd())).toEqual(['LLM text, 6 bytes', 'edited']);
    expect(steps.find(row => row.startsWith('❯'))).toContain('call_2');
  });

  test('says how many calls without room for', () => {
    const many = Array.from({ length: 40 }, (_, index) => ({ ...LOOKUP, key: `c${index}`, id: `c${index}` }));
    const { steps } = draw([awaiting(many)]);
    expect(steps.length).toBeLessThan(24);
    expect(steps.at(-1)).toMatch(/^ {2}… \d+ earlier calls$/);
    expect(steps.at(-2)).toContain('c39');
  });
});

describe('what a tool asks of a person', () => {
  const [one, two] = [callOf('call_1'), callOf('call_2')];
  const auth_url = `https://auth.example/consent?state=${'abcdefghij'.repeat(12)}`;
  const page = { ...OAUTH, id: 'call_1', auth_url } as OAuth;
  const choice = {
    ...CHOICE,
    id: 'call_1',
    prompt: 'May the file src/main.rs be written, although it is outside of the folder?',
    choices: ['Yes once', 'Yes, always', 'No'],
  } as UserChoice;
  const asked = (message: object): Story => [
    status('awaiting_tool_results'),
    awaiting([one, two]),
    ...legTo('call_1', message),
    ...legTo('call_2'),
    answered(two, result(two, 'shipped')),
  ];

  test.each([40, 80, 160])('RT-OAUTH: at %i columns a page has its URL whole, and whose it is', columns => {
    const { steps } = draw(asked(page), { columns, rows: 20 }, 5_000, 0, page);
    expect(steps.join('')).toContain(auth_url);
    expect(steps.join('\n')).toMatch(/\? lookup_order [^?]*call_1 asks$/m);
    expect(steps.find(row => row.startsWith('❯'))).toContain('asks you');
  });

  test('RT-CHOICE: beside a choice stands whose it is, and its call is the selected one', () => {
    const { steps, picker } = draw(asked(choice), { columns: 100, rows: 24 }, 5_000, 0, choice);
    expect(steps.find(row => row.startsWith('❯'))).toMatch(/call_1 +\? asks you/);
    expect(picker[0]).toBe('? lookup_order {"order_id":"call_1"} call_1 asks');
    expect(picker[1]).toBe(choice.prompt);
  });

  test('RT-CHOICE: at 40 × 20 the question is whole, its choices too; the details give way', () => {
    const { picker } = draw(asked(choice), { columns: 40, rows: 20 }, 5_000, 0, choice);
    expect(picker.slice(1, 3).join('')).toBe(choice.prompt);
    expect(picker.filter(row => /^[❯ ] \d /.test(row))).toHaveLength(3);
  });

  test('an asking call among very many is seen', () => {
    const many = Array.from({ length: 40 }, (_, index) => ({ ...LOOKUP, key: `c${index}`, id: `c${index}` }));
    const story = [awaiting([one, ...many]), ...legTo('call_1', choice)];
    const { steps } = draw(story, { columns: 100, rows: 24 }, 5_000, 0, choice);
    expect(steps.find(row => row.startsWith('❯'))).toMatch(/call_1 +\? asks you/);
    expect(steps.at(-1)).toMatch(/^ {2}… \d+ other calls$/);
  });
});

describe('the state of a call goes from leg to leg', () => {
  const one = callOf('call_1');
  const begun = [awaiting([one])];
  const [sent = [], acknowledged = [], arrived = []] = legTo('call_1');
  const shipped = answered(one, result(one, 'shipped'));

  test.each<[string, Story, RegExp]>([
    ['pending', begun, /… pending 5s$/],
    ['invoked', [...begun, sent], /… invoked 5s$/],
    ['acknowledged', [...begun, sent, acknowledged], /… acknowledged after 1ms, 5s$/],
    ['its result is here', [...begun, sent, acknowledged, arrived], /… result 5s$/],
    ['to be posted', [...begun, shipped], /… success, to be posted$/],
    ['on its way', [...begun, shipped, posts([one])], /… success, posting$/],
    ['taken', [...begun, shipped, posts([one]), answers(202)], /✓ success, posted 202 after 3ms$/],
    [
      'taken, though it failed',
      [...begun, answered(one, failure(one, 'no')), posts([one]), answers(202)],
      /✗ error, posted 202 after 3ms$/,
    ],
    ['refused', [...begun, shipped, posts([one]), answers(422)], /✗ success, refused with 422$/],
    ['not wanted', [...begun, shipped, posts([one]), answers(409)], /• success, no longer pending$/],
    ['settled elsewhere', [...begun, status('running')], /• answered by another client$/],
  ])('%s', (_, story, state) => {
    expect(stateOf(story)).toMatch(state);
  });
});

const PLATFORM = { url: 'http://127.0.0.1:4711', key: 'the-key' as string | null, session: SESSION };

/** The screen of a platform after a story and these keys. */
function drawPlatform(
  story: Story,
  keys: readonly string[] = [],
  size = SIZE,
  level: 0 | 2 = 0,
  platform = PLATFORM,
) {
  const clock = fakeClock();
  const view = new PlatformView({ platform, clock, level, onQuit: () => {} }, () => {});
  for (const event of eventsOf(...story)) view.event(event);
  clock.advance(9_000);
  view.frame(size);
  for (const { input, key } of keys.map(press)) view.press(input, key);
  return view.frame(size);
}

describe('a platform', () => {
  const text = (...args: Parameters<typeof drawPlatform>) =>
    drawPlatform(...args)
      .rows.map(row => row.trimEnd())
      .join('\n');

  test('at 120 columns: the calls of its sessions, and the selected one beside them', () => {
    const shown = text(CLIENT_STORY, [], { columns: 120, rows: 20 });
    expect(shown).toContain(
      'session mock  http://127.0.0.1:4711\nkey the-key\n1 session · 1 ended · 2 calls\n',
    );
    expect(shown).toMatch(/❯ lookup_order +✗ error, posted 202 .*│ session +session_1/);
    expect(shown).toContain('│ asked     at 0:00.0 in round 1');
    expect(shown).toContain('│ LLM');
    expect(shown).toContain('│ Order not found');
    expect(shown.split('\n').at(-1)).toBe('↑↓ select   ⏎ read   / search   ? keys   q quit');
  });

  test('of several sessions says of which a call is', () => {
    const other = { ...LOOKUP, key: 'x', id: 'x' };
    const shown = text([...CLIENT_STORY, awaiting([other], { id: 'session_2' })], [], {
      columns: 100,
      rows: 20,
    });
    expect(shown).toContain('2 sessions · 1 ended · 3 calls');
    expect(shown).toMatch(/SESSION .*\n.*session_1.*\n.*session_1.*\n❯ .*session_2/);
  });

  test('before the first call says how to answer one; the help has the keys there are', () => {
    expect(text([])).toContain('protocol-cli session answer http://127.0.0.1:4711 session_1 --tool <url>');
    const help = text([], ['?'], { columns: 80, rows: 60 });
    expect(help).toContain('q Ctrl-C');
    expect(help).not.toMatch(/replay|fire|hold/);
  });

  test('has its key whole at every width, and none that is not to be reported', () => {
    const key = 'a-b_c'.repeat(9);
    const rows = (columns: number, told: string | null) =>
      drawPlatform([], [], { columns, rows: 12 }, 0, { ...PLATFORM, key: told }).rows;
    expect(rows(80, key)[1]).toBe(`key ${key}`);
    expect(rows(40, key).slice(1, 3)).toEqual([`key ${key.slice(0, 36)}`, `    ${key.slice(36)}`]);
    expect(rows(80, null).join('\n')).not.toMatch(/^key/m);
  });

  test('of a call that was answered other than its script expects says how, and what it was warned of', () => {
    const shown = text(
      [
        status('awaiting_tool_results'),
        awaiting([LOOKUP]),
        [
          {
            kind: 'warned',
            thread: SESSION,
            calls: ['call_1'],
            message: 'there is no {{results.call_1.parcel}}',
          },
        ],
        answered(LOOKUP, result(LOOKUP, 'shipped'), 'platform', SESSION, [
          '$.result wanted 1, got "shipped"',
        ]),
      ],
      ['<enter>'],
      { columns: 120, rows: 20 },
    );
    expect(shown).toMatch(/│ state +success, unexpected answer, posted/);
    expect(shown).toMatch(/│ expected +✗ \$\.result wanted 1, got "shipped"/m);
    expect(shown).toMatch(/│ warning +there is no \{\{results\.call_1\.parcel\}\}/m);
  });

  test('in 40 × 8 what matters most', () => {
    const rows = text(CLIENT_STORY, [], { columns: 40, rows: 8 }).split('\n');
    expect(rows.slice(3, 6)).toEqual([
      '  TOOL            STATE',
      expect.stringMatching(/^ {2}lookup_order +✓ success, posted/),
      expect.stringMatching(/^❯ lookup_order +✗ error, posted/),
    ]);
  });
});

test('whatever comes, no row is wider than the terminal, and nothing is higher', () => {
  const text = fc.string({
    unit: fc.oneof(
      fc.constantFrom('漢', '\n', '\u001b', '\u202e', 'e\u0301', ' ', '\u001b[2J'),
      fc.string({ unit: anyCharacter, maxLength: 3 }),
    ),
    minLength: 1,
    maxLength: 60,
  });
  const size = fc.record({
    columns: fc.integer({ min: 40, max: 220 }),
    rows: fc.integer({ min: 8, max: 60 }),
  });
  const keys = fc.array(fc.constantFrom('<enter>', '?', 'k', ' ', '<escape>', '/'), { maxLength: 4 });
  fc.assert(
    fc.property(text, text, size, keys, (one, two, size, pressed) => {
      const asked = { key: one, tool_name: two, args: { [one]: two }, id: one };
      const story = [
        status('awaiting_tool_results'),
        awaiting([asked, NAMELESS]),
        ...legTo(one, { type: 'tool_result', id: one, text: two }),
        answered(asked, result(asked, two)),
        status(one, { answer: two }),
      ];
      const { steps, views, panes } = draw(story, size, 9_000, 2);
      const blocks = [
        steps,
        views,
        ...(panes
          ? panes.isSideBySide
            ? [panes.human.length > panes.llm.length ? panes.human : panes.llm]
            : [panes.human, panes.llm]
          : []),
      ];
      const shown = blocks.filter(rows => rows.length > 0);
      const height = shown.reduce((sum, rows) => sum + rows.length, shown.length - 1);
      expect(height).toBeLessThan(size.rows);
      const platform = drawPlatform(story, pressed, size, 2);
      expect(platform.rows).toHaveLength(size.rows - 1);
      for (const row of [...shown.flat(), ...platform.rows])
        expect(stringWidth(row)).toBeLessThanOrEqual(size.columns);
    }),
    { numRuns: 100 },
  );
});
