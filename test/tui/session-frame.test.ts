import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, test } from 'vitest';
import { History } from '../../src/events/history.js';
import { Sessions } from '../../src/events/session-calls.js';
import type { OAuth } from '../../src/protocol/callbacks.js';
import { createAnswerScreen } from '../../src/tui/session/answer.js';
import { createPlatformScreen } from '../../src/tui/session/platform.js';
import { createRedactor } from '../../src/util/redact.js';
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
import { drawnList } from './drawn.js';
import { press } from './workbench/form/support/pressing.js';

type Parts = readonly (readonly Moment[])[];
const SIZE = { columns: 80, rows: 24 };

/** The screen of a session that is answered, after these events. */
function openAnswer(parts: Parts, { level = 0 as 0 | 2, hasTool = true } = {}) {
  const known = { sessions: new Sessions(), history: new History() };
  const asked: string[] = [];
  const clock = fakeClock();
  const screen = createAnswerScreen({
    session: { id: SESSION, url: `${BASE}/${SESSION}` },
    known,
    hasTool,
    isUnvalidated: false,
    supports: new Set(['diff', 'text']),
    redactor: createRedactor(),
    clock,
    level,
    copy(text) {
      asked.push(`copy ${text}`);
      return { text: 'copied', isBad: false };
    },
    async visit(url) {
      asked.push(`visit ${url}`);
      return { text: 'opened', isBad: false };
    },
    interrupt: () => void asked.push('interrupt'),
  });
  for (const event of eventsOf(...parts)) {
    known.sessions.apply(event);
    known.history.apply(event);
    screen.event(event);
  }
  clock.advance(9_000);
  const rows = (size = SIZE) => drawnList(screen, size, size.columns, level);
  const type = (...keys: readonly string[]) => {
    for (const key of keys) screen.press(press(key));
  };
  return { asked, rows, press: type };
}

describe('session answer', () => {
  test('in 40 × 8: the session, its latest call, and its outcome', () => {
    const rows = openAnswer(CLIENT_SESSION).rows({ columns: 40, rows: 8 });
    expect(rows[0]).toBe('session session_1  http://127.0.0.1:4000');
    expect(rows.some(row => /^❯ lookup_order +✗ error/.test(row))).toBe(true);
  });

  const [one, two] = [callOf('call_1'), callOf('call_2')];
  const answeredBy = (text: string): Parts => [
    status('awaiting_tool_results'),
    awaiting([one]),
    ...legTo('call_1', { type: 'tool_result', id: 'call_1', text }),
    answered(one, result(one, text)),
  ];

  test('with a tool, a call has its panes, its messages and its problems', () => {
    const { press: type, rows } = openAnswer(answeredBy('the text'));
    const size = { columns: 100, rows: 40 };
    for (const [tab, shown] of [
      ['2', /LLM text, 8 bytes/],
      ['3', /TIMELINE \d+ events/],
      ['4', /WIRE \d+ requests?/],
      ['5', /VIEWS/],
      ['6', /PROBLEMS/],
    ] as const) {
      type(tab);
      expect(rows(size).join('\n')).toMatch(shown);
    }
  });

  test('with fixtures, a call has its details and its answer', () => {
    const { press: type, rows } = openAnswer(answeredBy('the text'), { hasTool: false });
    expect(rows().join('\n')).not.toContain('Timeline');
    type('2');
    expect(rows().join('\n')).toContain('the text');
  });

  test('q interrupts; several keys at once only once', () => {
    const { press: type, rows, asked } = openAnswer(CLIENT_SESSION);
    type('q', '<ctrl-c>');
    expect(asked).toEqual(['interrupt']);
    expect(rows().join('\n')).toContain('Stopping');
  });

  const auth_url = `https://auth.example/consent?state=${'abcdefghij'.repeat(12)}`;
  const page = { ...OAUTH, id: 'call_1', auth_url } as OAuth;
  const asking = (message: object): Parts => [
    status('awaiting_tool_results'),
    awaiting([one, two]),
    ...legTo('call_1', message),
    ...legTo('call_2'),
    answered(two, result(two, 'shipped')),
  ];

  test.each([
    [40, 8],
    [40, 20],
    [80, 20],
    [160, 20],
  ])('RT-OAUTH: in %i × %i the URL of a page is whole, with its call', (columns, rows) => {
    const shown = openAnswer(asking(page)).rows({ columns, rows });
    expect(shown.join('')).toContain(auth_url);
    expect(shown.join('\n')).toMatch(/\? lookup_order [^?]*call_1/);
  });

  test('RT-OAUTH: o opens the page once, U copies its URL', () => {
    const { press: type, asked, rows } = openAnswer(asking(page));
    expect(rows().at(-1)).toContain('o consent page');
    type('o', 'o', 'U');
    expect(asked).toEqual([`visit ${auth_url}`, `copy ${auth_url}`]);
    expect(rows().join('')).toContain(auth_url);
  });

  test('without a page, o says that no call waits for consent', () => {
    const { press: type, rows } = openAnswer(CLIENT_SESSION);
    type('o');
    expect(rows().join('\n')).toContain('No call is waiting for consent.');
  });

  test('a call that asks is selected among very many', () => {
    const many = Array.from({ length: 40 }, (_, index) => ({ ...LOOKUP, key: `c${index}`, id: `c${index}` }));
    const { rows } = openAnswer([awaiting([one, ...many]), ...legTo('call_1', { ...CHOICE, id: 'call_1' })]);
    expect(rows({ columns: 100, rows: 24 }).find(row => row.startsWith('❯'))).toMatch(/call_1 +\? asks you/);
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
      const answer = openAnswer(parts, { level: 2 });
      answer.press(...pressed);
      const platform = drawPlatform(parts, pressed, size, 2);
      for (const rows of [platform, answer.rows(size)]) {
        expect(rows).toHaveLength(size.rows - 1);
        for (const row of rows) expect(stringWidth(row)).toBeLessThanOrEqual(size.columns);
      }
    }),
    { numRuns: 20 },
  );
});
