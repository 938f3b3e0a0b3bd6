import { expect, test } from 'vitest';
import { type Clock, systemClock } from '../../src/system/clock.js';
import { mockScreen } from '../../src/tui/mock/screen.js';
import { fakeClock } from '../support/fake-clock.js';
import { delivered, MockEvents, TOKEN } from '../support/mock-events.js';
import { Emulator, type Size } from './support/emulator.js';
import { fakeKeyboard } from './support/fake-keyboard.js';
import { fakeTerminal } from './support/fake-terminal.js';

const UP = '\u001b[A';

/** The screen alone, drawn by Ink into an emulator, with made-up events. */
function open(
  { columns = 120, rows = 34 }: Partial<Size> = {},
  level: 0 | 2 = 0,
  clock: Clock = systemClock,
) {
  const emulator = new Emulator({ columns, rows });
  const keyboard = fakeKeyboard();
  const { stream } = fakeTerminal(emulator, { columns, rows });
  const stdout = Object.assign(stream, { rows });
  const mock = new MockEvents();
  const asked: string[] = [];
  const screen = mockScreen({
    tool: { url: 'http://127.0.0.1:4711', seed: '7f3a', name: 'demo', fixtures: 4 },
    subscribe: mock.log.subscribe,
    controls: {
      pause: () => void asked.push('pause'),
      resume: () => void asked.push('resume'),
      redeliver: key => asked.push(`redeliver ${key}`) > 0,
      fire(id, groupId) {
        asked.push(`fire ${id} of ${groupId}`);
        return 0;
      },
      reload: () => void asked.push('reload'),
      quit: () => void asked.push('quit'),
    },
    supports: new Set(['diff', 'text']),
    stdin: keyboard.stream,
    stdout,
    clock,
    level,
  });
  return {
    ...screen,
    notice: screen.view.notice.bind(screen.view),
    mock,
    asked,
    keyboard,
    emulator,
    shows: (text: string) => emulator.waitFor(`it shows ${text}`, () => emulator.text().includes(text)),
    resize(size: Size) {
      emulator.resize(size);
      Object.assign(stdout, size).emit('resize');
    },
    [Symbol.asyncDispose]: screen.close,
  };
}

test('calls keep the selection as others arrive; G follows the newest again', async () => {
  await using view = open();
  await view.shows('protocol-cli invoke -i http://127.0.0.1:4711');
  for (const id of ['a', 'b']) delivered(view.mock, id);
  view.keyboard.type(UP);
  await view.shows('\nedit_file a (thread_a)');
  delivered(view.mock, 'c');
  await view.shows('3 calls');
  expect(view.emulator.text()).toContain('\nedit_file a (thread_a)');
  view.keyboard.type('G');
  await view.shows('\nedit_file c (thread_a)');
});

test('notices: errors stay until the next message', async () => {
  await using view = open();
  view.notice('fixtures.yaml:3:5 $.fixtures[0]: what is this?\n  fixtures are as before', true);
  await view.shows('fixtures.yaml:3:5');
  view.mock.emit({ kind: 'warned', message: 'a request was refused with 403' });
  await view.shows('! a request was refused with 403');
  expect(view.emulator.text()).toContain('fixtures are as before');
  view.notice('reloaded 5 fixtures');
  await view.shows('reloaded 5 fixtures');
  expect(view.emulator.text()).not.toContain('as before');
});

test('notices: messages about keys, and about no call, disappear after 6 s', async () => {
  const clock = fakeClock();
  await using view = open({}, 0, clock);
  await view.emulator.waitFor('raw mode', view.keyboard.isRaw);
  const drawing = (what: string, isDrawn: () => boolean) =>
    view.emulator.waitFor(what, () => {
      clock.advance(0); // whatever is due now: a key is read when it is
      return isDrawn();
    });
  view.keyboard.type('r');
  await drawing('what the key said', () => view.emulator.text().includes('No call to replay.'));
  const to = { from: 'runtime', to: 'tool', purpose: 'close', url: '/close_thread', thread: 'a' } as const;
  view.mock.emit({ kind: 'request', leg: 'x', method: 'POST', headers: {}, attempt: 1, ...to });
  clock.advance(50);
  await view.shows('• thread a was closed');
  const isSaid = () => /There is not a call|was closed/.test(view.emulator.text());
  clock.advance(5_900);
  expect(isSaid()).toBe(true);
  clock.advance(200);
  await drawing('nothing any more', () => !isSaid());
  expect(clock.pending()).toBe(0);
});

test('threats, rows 24 and 25: foreign text has no effect, and no token of a callback is shown', async () => {
  await using view = open({ columns: 160, rows: 40 }, 2);
  const hostile = '\u001b]0;owned\u0007\u001b]52;c;eA==\u0007\u001b[2J\r\u202e\u009b31m';
  view.mock.receives('a', { operation: hostile, arguments: { [hostile]: hostile }, group_id: hostile });
  view.mock.matches('a', hostile).sends('a', { type: hostile, text: TOKEN }).answered(1);
  view.mock.emit({ kind: 'warned', message: hostile });
  view.notice(hostile, true);
  await view.shows('! ␛]0;owned␇␛]52;c;eA==␇␛[2J␍<U+202E><U+009B>31m');
  expect(view.emulator.mischief).toEqual({ commands: [], titles: [], bells: 0 });
  expect(view.emulator.raw).not.toContain('\u001b[2J');
  expect(view.emulator.raw).not.toContain(TOKEN);
  expect(view.emulator.rows()[39]).toBe('');
});

test('3,000 calls at once are a few frames', async () => {
  await using view = open();
  for (let id = 0; id < 3_000; id++) delivered(view.mock, `call_${id}`);
  await view.shows('3000 calls');
  expect(view.emulator.raw.split('\u001b[?2026h').length).toBeLessThan(50);
});
