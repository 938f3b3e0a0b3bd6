import { describe, expect, test } from 'vitest';
import { History } from '../../src/events/history.js';
import { createLog } from '../../src/events/log.js';
import { Page } from '../../src/render/outputs/reporter.js';
import { systemClock } from '../../src/system/clock.js';
import { liveReporter } from '../../src/tui/live/reporter.js';
import { createRedactor } from '../../src/util/redact.js';
import { eventually } from '../e2e/support/eventually.js';
import {
  acknowledged,
  arrives,
  call,
  EVENT,
  type Moment,
  OAUTH,
  resultArrives,
  VIEW,
} from '../events/build.js';
import { Emulator, type Size } from './support/emulator.js';
import { fakeKeyboard } from './support/fake-keyboard.js';
import { fakeTerminal } from './support/fake-terminal.js';
import { question } from './support/scenes.js';

const CTRL_C = '\u0003';

const HOSTILE = '\u001b]0;owned\u0007\u001b]52;c;eA==\u0007\u001b[2J\r\u202e';

const DOWN = '\u001b[B';

const ASKED = question('Where to?', ['staging', 'production', 'neither']);

const { signal: never } = new AbortController();

const patch = (line: string) => `--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-old\n+${line}\n`;

/** The reporter alone, drawn by Ink into an emulator, with made-up events. */
function open(
  { columns = 100, rows = 30 }: Partial<Size> = {},
  level: 0 | 2 = 0,
  keyboard = fakeKeyboard(),
  redact: (text: string) => string = String,
) {
  const emulator = new Emulator({ columns, rows });
  const stdout = Object.assign(fakeTerminal(emulator, { columns, rows }).stream, { rows });
  const log = createLog(() => systemClock.now());
  const history = new History();
  let interrupts = 0;
  log.subscribe(event => history.apply(event));
  const reporter = liveReporter({
    page: new Page(history, { stdout, stderr: stdout, quiet: true, redactor: createRedactor(), level }),
    stdin: keyboard.stream,
    stdout,
    clock: systemClock,
    supports: new Set(['text', 'diff']),
    interrupt: () => interrupts++,
    redact,
  });
  if (reporter.event) log.subscribe(reporter.event);
  const { choose, close } = reporter;
  if (!choose || !close) throw new Error('it neither asks nor closes');
  const tell = (...parts: readonly (readonly Moment[])[]) => {
    for (const fact of parts.flat()) log.emit(fact);
  };
  tell(call(), acknowledged());
  return {
    choose,
    close,
    settle: () => reporter.settled?.({ history, exchange: history.first, notes: [], trouble: null }),
    tell,
    keyboard,
    emulator,
    interrupts: () => interrupts,
    shows: (text: string) => emulator.waitFor(`it shows ${text}`, () => emulator.text().includes(text)),
    hides: (text: string) => emulator.waitFor(`it hides ${text}`, () => !emulator.text().includes(text)),
    resize(size: Size) {
      emulator.resize(size);
      Object.assign(stdout, size).emit('resize');
    },
    [Symbol.asyncDispose]: close,
  };
}

describe('a question', () => {
  test('RT-CHOICE: stands below the steps until it is answered; the terminal is raw only meanwhile', async () => {
    await using view = open();
    await view.shows('… waiting for the result');
    expect(view.keyboard.isRaw()).toBe(false);
    const answer = view.choose(ASKED, never);
    await view.shows('❯ 0 staging (default)');
    expect(view.keyboard.isRaw()).toBe(true);
    view.keyboard.type(DOWN);
    await view.shows('❯ 1 production');
    view.keyboard.type('j\r');
    expect(await answer).toBe(2);
    await view.hides('Where to?');
    expect(view.keyboard.isRaw()).toBe(false);
  });

  test('is not answered by keys typed before it was visible, however slow the terminal is', async () => {
    const slow = fakeKeyboard(() => {
      for (const end = performance.now() + 100; performance.now() < end; );
    });
    await using view = open({}, 0, slow);
    view.keyboard.type('1\r');
    const answer = view.choose(ASKED, never);
    await view.shows('❯ 0 staging (default)');
    view.keyboard.type('\r');
    expect(await answer).toBe(0);
  });

  test('Ctrl-C stays a signal, each time', async () => {
    await using view = open();
    const answer = view.choose(ASKED, never);
    await view.shows('⏎ choose');
    view.keyboard.type(CTRL_C);
    await eventually('the first Ctrl-C', () => view.interrupts() === 1); // two in one read count once
    view.keyboard.type(`1${CTRL_C}`);
    await view.shows('❯ 1 production');
    expect(view.interrupts()).toBe(2);
    view.keyboard.type('\r');
    expect(await answer).toBe(1);
  });

  test('has no answer if the view is closed: the last frame has no question, and the terminal is restored', async () => {
    await using view = open();
    const answer = view.choose(ASKED, never);
    await view.shows('⏎ choose');
    expect(view.emulator.isCursorVisible).toBe(false);
    await view.close();
    expect(await answer).toBeNull();
    await view.hides('⏎ choose');
    expect(view.emulator.isCursorVisible).toBe(true);
    expect(view.keyboard.isRaw()).toBe(false);
    expect(view.emulator.text()).toContain('✓ acknowledged with 200');
  });
});

test('threats, row 24: a view has no effect on the terminal', async () => {
  await using view = open({ columns: 160, rows: 40 }, 2);
  view.tell(arrives({ ...VIEW, content: { patch: `${HOSTILE}${patch(HOSTILE)}` } }, { leg: 'v' }));
  await view.shows('owned');
  expect(view.emulator.text()).toContain('␛]0;owned␇');
  expect(view.emulator.mischief).toEqual({ commands: [], titles: [], bells: 0 });
  expect(view.emulator.raw).not.toContain('\u001b[2J');
});

test('threats, row 25: a view has no secrets; the question to the user is whole', async () => {
  const secret = 'CANARY-1234';
  const { text: redact } = createRedactor([secret]);
  await using view = open({ columns: 60 }, 2, fakeKeyboard(), redact);
  view.tell(arrives({ ...VIEW, content: { patch: patch(`${'x'.repeat(47)} ${secret}`) } }, { leg: 'v' }));
  void view.choose(question(`${secret}?`, ['a', 'b']), never);
  await view.shows(`${secret}?`);
  expect(view.emulator.text()).toContain('[redacted]');
  expect(
    view.emulator
      .text()
      .replaceAll(/\s/g, '')
      .match(/CANARY/g),
  ).toHaveLength(1);
});

describe('a page to visit', () => {
  test('shows its key until the result arrives; the terminal is raw only meanwhile', async () => {
    await using view = open();
    view.tell(arrives(OAUTH));
    await view.shows('o opens it   Ctrl-C cancels');
    expect(view.emulator.text()).toContain(OAUTH.auth_url);
    expect(view.keyboard.isRaw()).toBe(true);
    view.keyboard.type(CTRL_C);
    await view.emulator.waitFor('the signal', () => view.interrupts() === 1);
    view.tell(resultArrives({}, { leg: 'back-2' }));
    await view.shows('✓ result');
    expect(view.emulator.text()).not.toContain('opens it');
    expect(view.keyboard.isRaw()).toBe(false);
  });
});

describe('a subscription', () => {
  const subscribed = () =>
    resultArrives({ text: 'subscribed\n'.repeat(40), subscription: true }, { leg: 'r' });
  const event = (number: number, fields: object = {}) =>
    arrives({ ...EVENT, text: `news ${number}`, ...fields }, { leg: `e${number}` });

  test('1,000 events at once are a few frames; the newest and the panes are visible', async () => {
    await using view = open();
    view.tell(subscribed());
    await view.settle();
    await view.shows('LLM text');
    const frames = () => view.emulator.raw.split('\u001b[?2026h').length;
    const before = frames();
    for (let number = 1; number <= 1_000; number++) view.tell(event(number));
    await view.shows('subscribed: 1000 events');
    expect(frames() - before).toBeLessThan(10);
    expect(view.emulator.text()).toMatch(/news 999.*\n.*news 1000/);
    expect(view.emulator.text()).toMatch(/HUMAN text[\s\S]*subscribed\n[\s\S]*LLM text[\s\S]*subscribed\n/);
    expect(view.emulator.scrollback()).toEqual([]);
  });
});

test.each([
  [40, 8],
  [160, 24],
])('in %i × %i the whole question is in one frame, and nothing scrolls away', async (columns, rows) => {
  await using view = open({ columns, rows });
  view.tell(arrives({ ...VIEW, content: { patch: patch('new') } }, { leg: 'v' }));
  const labels = Array.from({ length: 70 }, (_, index) => `choice ${index}`);
  void view.choose(question('Where to?', labels, 35), never);
  await view.shows('⏎ choose   Esc default');
  const seen = view.emulator.rows();
  expect(seen.filter(line => line === 'Where to?')).toHaveLength(1);
  expect(seen).toContain('❯ 35 choice 35 (default)');
  expect(seen.at(-1)).toBe('');
  expect(view.emulator.scrollback()).toEqual([]);
});

test('a resized terminal redraws the question once', async () => {
  await using view = open({ columns: 100, rows: 30 });
  void view.choose(ASKED, never);
  await view.shows('⏎ choose');
  for (const [columns, rows] of [
    [60, 30],
    [60, 12],
    [160, 40],
  ] as const) {
    view.resize({ columns, rows });
    view.keyboard.type('j');
    view.keyboard.type('k');
    await view.shows('❯ 0 staging (default)');
    expect(view.emulator.text().match(/Where to\?/g)).toHaveLength(1);
  }
  expect(view.emulator.scrollback()).toEqual([]);
  expect(view.emulator.raw).not.toContain('\u001b[3J');
});

test('in a terminal that becomes lower than the frame, only a frame that fits is drawn, and the scrollback is kept', async () => {
  await using view = open({ columns: 60, rows: 30 });
  const labels = Array.from({ length: 70 }, (_, index) => `choice ${index}`);
  void view.choose(question('Where to?', labels), never);
  await view.shows('choice 20\n');
  view.resize({ columns: 60, rows: 12 });
  await view.emulator.waitFor('the next frame', () => !view.emulator.text().includes('choice 15'));
  expect(view.emulator.text()).toContain('⏎ choose');
  expect(view.emulator.text().match(/Where to\?/g)).toHaveLength(1);
  expect(view.emulator.raw).not.toContain('\u001b[3J');
});

test('leaves no listener behind', async () => {
  const count = () => [...process.eventNames()].map(name => [name, process.listenerCount(name)]);
  const before = count();
  for (let n = 0; n < 3; n++) {
    await using view = open();
    await view.shows('… waiting for the result');
    await view.close();
  }
  expect(count()).toEqual(before);
});
