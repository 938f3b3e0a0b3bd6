import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, test } from 'vitest';
import type { Event } from '../../src/events/events.js';
import type { Exchange } from '../../src/events/exchange.js';
import { History } from '../../src/events/history.js';
import { Sessions } from '../../src/events/session-calls.js';
import type { OAuth, UserChoice } from '../../src/protocol/callbacks.js';
import { panesOf } from '../../src/render/panes.js';

import { paletteOf } from '../../src/render/terminal/theme.js';
import type { Frame } from '../../src/tui/live/frame.js';
import { pickerLines, pickerOf } from '../../src/tui/picker.js';
import { answerFrame } from '../../src/tui/session/answer.js';
import { createPlatformScreen } from '../../src/tui/session/platform.js';
import { CHOICE, eventsOf, type Moment, OAUTH } from '../events/build.js';
import {
  answered,
  awaiting,
  BASE,
  CLIENT_SESSION,
  LOOKUP,
  NAMELESS,
  result,
  SESSION,
  status,
} from '../events/session/build.js';
import { callOf, legTo } from '../render/session/legs.js';
import { anyCharacter } from '../support/characters.js';
import { fakeClock } from '../support/fake-clock.js';
import { words } from '../support/words.js';
import { drawnList } from './drawn.js';
import { press } from './workbench/form/support/pressing.js';

type Parts = readonly (readonly Moment[])[];
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
  parts: Parts,
  size = SIZE,
  now = 5_000,
  level: 0 | 2 = 0,
  asks: UserChoice | OAuth | null = null,
): Frame {
  const known = foldAll(eventsOf(...parts));
  const panes = (exchange: Exchange) => panesOf(exchange, new Set(['diff', 'text']));
  const about = { id: SESSION, url: `${BASE}/${SESSION}`, isOver: asks === null };
  const picker = asks?.type === 'user_choice' ? pickerOf(asks) : null;
  const scene = { ...about, known, asks, now, panesOf: panes };
  const look = { palette: paletteOf(level), redact: String };
  return answerFrame(scene, { ...AROUND, picker }, size, look);
}

const rowsOf = ({ steps, views, panes }: Frame) =>
  [...steps, ...views, ...(panes?.human ?? []), ...(panes?.llm ?? [])].map(row => words(row).trimEnd());

describe('session answer', () => {
  test('in 40 × 8: the session, its latest call, and its outcome', () => {
    const rows = rowsOf(draw(CLIENT_SESSION, { columns: 40, rows: 8 }));
    expect(rows[0]).toBe('session session_1  http://127.0.0.1:4000');
    expect(rows.some(row => /^❯ lookup_order +✗ error/.test(row))).toBe(true);
  });
});

describe('questions of a tool', () => {
  const [one, two] = [callOf('call_1'), callOf('call_2')];
  const auth_url = `https://auth.example/consent?state=${'abcdefghij'.repeat(12)}`;
  const page = { ...OAUTH, id: 'call_1', auth_url } as OAuth;
  const choice = {
    ...CHOICE,
    id: 'call_1',
    prompt: 'May the file src/main.rs be written, although it is outside of the folder?',
    choices: ['Yes once', 'Yes, always', 'No'],
  } as UserChoice;
  const asked = (message: object): Parts => [
    status('awaiting_tool_results'),
    awaiting([one, two]),
    ...legTo('call_1', message),
    ...legTo('call_2'),
    answered(two, result(two, 'shipped')),
  ];

  test.each([40, 80, 160])('RT-OAUTH: at %i columns the URL of a page is whole, with its call', columns => {
    const frame = draw(asked(page), { columns, rows: 20 }, 5_000, 0, page);
    const steps = frame.steps.map(words);
    expect(steps.join('')).toContain(auth_url);
    expect(steps.join('\n')).toMatch(/\? lookup_order [^?]*call_1 asks$/m);
    expect(steps.find(row => row.startsWith('❯'))).toContain('asks you');
  });

  test('RT-CHOICE: a question names its call, which is selected', () => {
    const frame = draw(asked(choice), { columns: 100, rows: 24 }, 5_000, 0, choice);
    expect(frame.steps.map(words).find(row => row.startsWith('❯'))).toMatch(/call_1 +\? asks you/);
    if (!frame.question) throw new Error('there is no question');
    const { picker, size } = frame.question;
    const asking = pickerLines(picker, size).lines.map(words);
    expect(asking[0]).toBe('? lookup_order {"order_id":"call_1"} call_1 asks');
    expect(asking[1]).toBe(choice.prompt);
  });

  test('a call with a question is visible among very many', () => {
    const many = Array.from({ length: 40 }, (_, index) => ({ ...LOOKUP, key: `c${index}`, id: `c${index}` }));
    const parts = [awaiting([one, ...many]), ...legTo('call_1', choice)];
    const steps = draw(parts, { columns: 100, rows: 24 }, 5_000, 0, choice).steps.map(words);
    expect(steps.find(row => row.startsWith('❯'))).toMatch(/call_1 +\? asks you/);
    expect(steps.at(-1)).toMatch(/^ {2}… \d+ other calls$/);
  });
});

const PLATFORM = { url: 'http://127.0.0.1:4711', key: 'the-key' as string | null, session: SESSION };

/** The screen of a platform after these events and keys. */
function drawPlatform(
  parts: Parts,
  keys: readonly string[] = [],
  size = SIZE,
  level: 0 | 2 = 0,
  platform = PLATFORM,
) {
  const clock = fakeClock();
  const copy = (text: string) => ({ text, isBad: false });
  const view = createPlatformScreen({ platform, clock, level, copy, onQuit: () => {} });
  for (const event of eventsOf(...parts)) view.event(event);
  clock.advance(9_000);
  view.store.dispatch({ type: 'resized', size });
  for (const key of keys) view.press(press(key));
  return drawnList(view, size, size.columns, level);
}

describe('session mock', () => {
  test('shows its key whole at every width, unless it was given', () => {
    const key = 'a-b_c'.repeat(9);
    const rows = (columns: number, shown: string | null) =>
      drawPlatform([], [], { columns, rows: 12 }, 0, { ...PLATFORM, key: shown });
    expect(rows(80, key)[1]).toBe(`key ${key}`);
    expect(rows(40, key).slice(1, 3)).toEqual([`key ${key.slice(0, 36)}`, `    ${key.slice(36)}`]);
    expect(rows(80, null).join('\n')).not.toMatch(/^key/m);
  });

  test.each([
    [130, 'the-key', / session_1 --key the-key --tool <url>$/m],
    [80, 'a-b_c'.repeat(8), / session_1 \\\n +--key (a-b_c){8} --tool <url>$/m],
    [130, null, / session_1 --tool <url>$/m],
  ])('its command in %i columns has the generated key %s', (columns, key, shown) => {
    for (const parts of [[], [status('awaiting_tool_results'), awaiting([LOOKUP])]])
      expect(drawPlatform(parts, [], { columns, rows: 30 }, 0, { ...PLATFORM, key }).join('\n')).toMatch(
        shown,
      );
  });
});

test('no row is wider than the terminal, and no frame higher', () => {
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
      const parts = [
        status('awaiting_tool_results'),
        awaiting([asked, NAMELESS]),
        ...legTo(one, { type: 'tool_result', id: one, text: two }),
        answered(asked, result(asked, two)),
        status(one, { answer: two }),
      ];
      const { steps, views, panes } = draw(parts, size, 9_000, 2);
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
      const platform = drawPlatform(parts, pressed, size, 2);
      expect(platform).toHaveLength(size.rows - 1);
      for (const row of shown.flat()) expect(stringWidth(words(row))).toBeLessThanOrEqual(size.columns);
      for (const row of platform) expect(stringWidth(row)).toBeLessThanOrEqual(size.columns);
    }),
    { numRuns: 20 },
  );
});
