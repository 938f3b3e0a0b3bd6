import { describe, expect, test } from 'vitest';
import { History } from '../../src/events/history.js';
import { createLog } from '../../src/events/log.js';
import { Sessions } from '../../src/events/session-calls.js';
import { Page } from '../../src/render/outputs/reporter.js';
import { systemClock } from '../../src/system/clock.js';
import { liveSession } from '../../src/tui/session/answer.js';
import { platformScreen } from '../../src/tui/session/platform.js';
import { createRedactor } from '../../src/util/redact.js';
import type { Moment } from '../events/build.js';
import {
  answered,
  answers,
  awaiting,
  BASE,
  LOOKUP,
  NAMELESS,
  posts,
  result,
  SESSION,
  status,
} from '../events/session/build.js';
import { Emulator, type Size } from './support/emulator.js';
import { fakeKeyboard } from './support/fake-keyboard.js';
import { fakeTerminal } from './support/fake-terminal.js';
import { question } from './support/scenes.js';

const UP = '\u001b[A';

const CTRL_C = '\u0003';

const BEGUN = [status('awaiting_tool_results'), awaiting([LOOKUP, NAMELESS])];

/** A terminal that Ink draws into, and a log for events. */
function openTerminal({ columns = 100, rows = 24 }: Partial<Size> = {}) {
  const emulator = new Emulator({ columns, rows });
  const keyboard = fakeKeyboard();
  const stdout = Object.assign(fakeTerminal(emulator, { columns, rows }).stream, { rows });
  const log = createLog(() => systemClock.now());
  return {
    emulator,
    keyboard,
    stdout,
    log,
    tell: (...parts: readonly (readonly Moment[])[]) => {
      for (const fact of parts.flat()) log.emit(fact);
    },
    shows: (text: string) => emulator.waitFor(`it shows ${text}`, () => emulator.text().includes(text)),
    hides: (text: string) => emulator.waitFor(`it hides ${text}`, () => !emulator.text().includes(text)),
  };
}

/** The view of a session that is answered, without a platform. */
function openAnswer(size: Partial<Size> = {}, level: 0 | 2 = 0) {
  const terminal = openTerminal(size);
  const { stdout, keyboard, log } = terminal;
  const known = { sessions: new Sessions(), history: new History() };
  log.subscribe(event => known.history.apply(event));
  log.subscribe(event => known.sessions.apply(event));
  const asked = { interrupts: 0 };
  const redactor = createRedactor(['the-secret']);
  const session = { id: SESSION, url: `${BASE}/${SESSION}` };
  const reporter = liveSession({
    known,
    session,
    page: new Page(known.history, { stdout, stderr: stdout, quiet: false, redactor, level }),
    stdin: keyboard.stream,
    stdout,
    clock: systemClock,
    supports: new Set(['text', 'diff']),
    interrupt: () => asked.interrupts++,
    hasTool: false,
    isUnvalidated: false,
    redactor,
  });
  if (reporter.event) log.subscribe(reporter.event);
  const { choose, close, lendTerminal: aside } = reporter;
  if (!choose || !close || !aside) throw new Error('it neither asks nor closes');
  const end = async () => {
    await close();
    await reporter.end({ session, known, notes: [], trouble: null });
  };
  return { ...terminal, choose, aside, asked, end, [Symbol.asyncDispose]: close };
}

describe('session answer', () => {
  test('is shown full screen from its first status to its end; then its outcome is printed', async () => {
    const view = openAnswer();
    await view.shows('… asking the platform');
    await view.shows('No calls yet.');
    expect(view.emulator.isAlternate).toBe(true);
    view.tell(...BEGUN);
    await view.shows('… pending');
    view.tell(answered(LOOKUP, result(LOOKUP, 'shipped')));
    await view.shows('… success, to be posted');
    view.tell(posts([LOOKUP]), answers(202), awaiting([NAMELESS]));
    await view.shows('✓ success, posted 202');
    expect(view.emulator.text()).toContain('1 of 2 calls answered');
    view.tell(status('completed', { answer: 'Your order is shipped' }));
    await view.end();
    await view.shows('Your order is shipped');
    const text = view.emulator.text();
    expect(text).toMatch(/^✓ completed after \S+ · 1 round · 1 of 2 calls answered$/m);
    expect(text).toMatch(/lookup_order +\{"order_id":"A1"\} +call_1 +✓ success, posted 202/);
    expect(text).toMatch(/^ANSWER\nYour order is shipped$/m);
    expect(text).toContain('2 calls: 1 success, 1 unanswered');
    expect(view.emulator.isCursorVisible).toBe(true);
    expect(view.keyboard.isRaw()).toBe(false);
    expect(view.emulator.isAlternate).toBe(false);
  });

  test('without an answer of the platform, nothing is printed at the end', async () => {
    const view = openAnswer();
    await view.shows('… asking the platform');
    await view.end();
    expect(view.emulator.text()).toBe('');
  });

  test('RT-CHOICE: a question of the tool covers the list until it is answered', async () => {
    await using view = openAnswer();
    view.tell(...BEGUN);
    const choices = question('Where to?', ['staging', 'production']);
    const answer = view.choose({ ...choices, id: 'call_1' }, new AbortController().signal);
    await view.shows('❯ 0 staging (default)');
    expect(view.emulator.text()).toContain('? lookup_order {"order_id":"A1"} call_1 asks');
    view.keyboard.type(CTRL_C);
    await view.emulator.waitFor('the interrupt', () => view.asked.interrupts === 1);
    view.keyboard.type('1\r');
    expect(await answer).toBe(1);
    await view.hides('Where to?');
  });

  test('RT-CHOICE: one question after the other; Escape selects the default, and an aborted one disappears', async () => {
    await using view = openAnswer();
    const over = new AbortController();
    const first = view.choose(question('First?', ['a', 'b'], 1), over.signal);
    const second = view.choose(question('Second?', ['a', 'b']), over.signal);
    await view.shows('First?');
    view.keyboard.type('\u001b');
    expect(await first).toBe(1);
    await view.shows('Second?');
    over.abort();
    expect(await second).toBeNull();
    await view.hides('Second?');
  });

  test('a question does not appear while the user searches', async () => {
    await using view = openAnswer();
    view.tell(...BEGUN);
    await view.shows('… pending');
    view.keyboard.type('/');
    const answer = view.choose(question('Where to?', ['a', 'b']), new AbortController().signal);
    view.keyboard.type('1');
    await view.shows('/1');
    view.keyboard.type('\r');
    await view.shows('Where to?');
    view.keyboard.type('1\r');
    expect(await answer).toBe(1);
  });

  test('other code can use the terminal for a while', async () => {
    await using view = openAnswer();
    view.tell(...BEGUN);
    await view.shows('… pending');
    await view.aside(async () => {
      expect(view.emulator.isAlternate).toBe(false);
      expect(view.keyboard.isRaw()).toBe(false);
      view.tell(answered(LOOKUP, result(LOOKUP, 'shipped')));
    });
    await view.shows('… success, to be posted');
    expect(view.emulator.isAlternate).toBe(true);
  });

  test('threats, row 24 and 25: nothing foreign controls the terminal, and no secret is shown', async () => {
    const view = openAnswer({ columns: 120 });
    const evil = '\u001b]0;owned\u0007\u001b]52;c;eA==\u0007\u001b[2J\r\u202e the-secret';
    const asked = { key: evil, tool_name: evil, args: { evil }, id: evil };
    view.tell(status(evil), awaiting([asked]), answered(asked, result(asked, evil)));
    for (const tab of ['1', '2']) {
      view.keyboard.type(tab);
      await view.shows(tab === '1' ? 'ARGUMENTS' : '[redacted]');
    }
    view.tell(status('completed', { answer: evil }));
    await view.end();
    await view.shows('ANSWER');
    expect(view.emulator.mischief).toEqual({ commands: [], titles: [], bells: 0 });
    expect(view.emulator.raw).not.toContain('the-secret');
  });
});

/** The list of a platform, without a server. */
function openPlatform(size: Partial<Size> = {}) {
  const terminal = openTerminal(size);
  const { stdout, keyboard, log } = terminal;
  const quits = { count: 0 };
  const screen = platformScreen({
    platform: { url: 'http://127.0.0.1:4711', key: 'the-key', session: SESSION },
    subscribe: log.subscribe,
    stdin: keyboard.stream,
    stdout,
    clock: systemClock,
    level: 0,
    onQuit: () => void quits.count++,
  });
  return { ...terminal, ...screen, quits, [Symbol.asyncDispose]: screen.close };
}

describe('session mock', () => {
  test('shows calls as they arrive, and their results; keys select and quit', async () => {
    await using view = openPlatform({ columns: 130 });
    await view.shows('protocol-cli session answer http://127.0.0.1:4711 session_1');
    view.tell(...BEGUN);
    await view.shows('… pending');
    view.tell(answered(LOOKUP, result(LOOKUP, 'shipped'), 'platform'));
    await view.shows('✓ success, posted after');
    view.keyboard.type(UP);
    await view.shows('│ lookup_order call_1');
    expect(view.emulator.text()).toContain('│ shipped');
    view.keyboard.type('q');
    await view.emulator.waitFor('the end', () => view.quits.count === 1);
    expect(view.view.summary()).toBe('1 session · 1 waiting for results · 2 calls');
  });
});
