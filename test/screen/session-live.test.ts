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
  const session = { id: SESSION, url: `${BASE}/${SESSION}` };
  const reporter = liveSession({
    known,
    session,
    page: new Page(known.history, { stdout, stderr: stdout, quiet: true, redactor: createRedactor(), level }),
    stdin: keyboard.stream,
    stdout,
    clock: systemClock,
    supports: new Set(['text', 'diff']),
    interrupt: () => asked.interrupts++,
  });
  if (reporter.event) log.subscribe(reporter.event);
  const { choose, close, lendTerminal: aside } = reporter;
  if (!choose || !close || !aside) throw new Error('it neither asks nor closes');
  return { ...terminal, choose, close, aside, asked, [Symbol.asyncDispose]: close };
}

describe('session answer', () => {
  test('is shown from its first status to its end; the last frame stays, and the terminal is restored', async () => {
    const view = openAnswer();
    await view.shows('… asking the platform');
    await view.shows('Ctrl-C stops answering');
    view.tell(...BEGUN);
    await view.shows('… pending');
    view.tell(answered(LOOKUP, result(LOOKUP, 'shipped')));
    await view.shows('… success, to be posted');
    view.tell(posts([LOOKUP]), answers(202), awaiting([NAMELESS]));
    await view.shows('✓ success, posted 202');
    expect(view.emulator.text()).toContain('1 of 2 calls answered');
    view.tell(status('completed', { answer: 'Your order is shipped' }));
    await view.shows('ANSWER of the agent');
    await view.close();
    expect(view.emulator.text()).toContain('Your order is shipped');
    expect(view.emulator.text()).not.toContain('Ctrl-C');
    expect(view.emulator.isCursorVisible).toBe(true);
    expect(view.keyboard.isRaw()).toBe(false);
    expect(view.emulator.isAlternate).toBe(false);
  });

  test('RT-CHOICE: a question of the tool is answered below', async () => {
    await using view = openAnswer();
    view.tell(...BEGUN);
    const answer = view.choose(
      question('Where to?', ['staging', 'production']),
      new AbortController().signal,
    );
    await view.shows('❯ 0 staging (default)');
    expect(view.keyboard.isRaw()).toBe(true);
    view.keyboard.type(CTRL_C);
    await view.emulator.waitFor('the interrupt', () => view.asked.interrupts === 1);
    view.keyboard.type('1\r');
    expect(await answer).toBe(1);
    await view.hides('Where to?');
    expect(view.keyboard.isRaw()).toBe(false);
  });

  test('threats, row 24: nothing foreign controls the terminal', async () => {
    await using view = openAnswer();
    const evil = '\u001b]0;owned\u0007\u001b]52;c;eA==\u0007\u001b[2J\r\u202e';
    const asked = { key: evil, tool_name: evil, args: { evil }, id: evil };
    view.tell(
      status(evil),
      awaiting([asked]),
      answered(asked, result(asked, evil)),
      status('completed', { answer: evil }),
    );
    await view.shows('ANSWER');
    expect(view.emulator.mischief).toEqual({ commands: [], titles: [], bells: 0 });
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
