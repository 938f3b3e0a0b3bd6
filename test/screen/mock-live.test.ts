import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../e2e/support/folder.js';
import { type InvokeOptions, openRuntime } from '../peers/runtime.mjs';
import { printedPid } from './support/printed-pid.js';
import { expectRestored, LOOK_BACK } from './support/restored.js';
import { openShell, type ScreenOptions } from './support/screen.js';
import { openHere, type ScreenHere } from './support/screen-here.js';

const SUBSCRIPTION = `
version: 1
fixtures:
  - match: { operation: watch }
    reply:
      - result: { text: on, subscription: true }
      - { event: { text: one } }
      - { event: { text: last, final: true }, on: demand }
`;
const URL_SHOWN = /http:\/\/127\.0\.0\.1:\d+/;

const ABOVE = 'above\n';

const CRASHING = `
export default {
  name: 'crash', description: 'Ends the process', inputSchema: { type: 'object' },
  handle() { setImmediate(() => { throw new Error('a fault of its own'); }); return 'done'; },
};
`;

/** A runtime that calls the mock on a screen. */
async function runtimeOf(screen: Pick<ScreenHere, 'text'>) {
  const [url = ''] = URL_SHOWN.exec(screen.text()) ?? [];
  const runtime = await openRuntime();
  return {
    call: (operation: string, args: Record<string, unknown>, options: InvokeOptions = {}) =>
      runtime.invoke(url, operation, args, { id: 'call_1', groupId: 'thread_a', ...options }),
    async [Symbol.asyncDispose]() {
      runtime.close();
    },
  };
}

/** A mock on a screen, once it is ready, and a runtime that calls it. */
async function openMock(words: readonly string[], options?: ScreenOptions) {
  const screen = openHere(['mock-tool', ...words], options);
  await screen.shows(URL_SHOWN);
  const runtime = await runtimeOf(screen);
  return {
    ...screen,
    call: runtime.call,
    async [Symbol.asyncDispose]() {
      await runtime[Symbol.asyncDispose]();
      await screen[Symbol.asyncDispose]();
    },
  };
}

describe.concurrent('a mock with a screen', () => {
  test('shows a call, its payload and its result; p pauses deliveries, r repeats one', async () => {
    await using mock = await openMock([], { columns: 170, rows: 30 });
    mock.type('p');
    await mock.shows('‖ deliveries are held back');
    const call = await mock.call('edit_file', { path: 'src/main.rs' });
    await mock.shows('… waiting');
    await mock.shows('"path": "src/main.rs"');
    expect(call.callbacks).toHaveLength(0);
    mock.type('p');
    await mock.shows('✓ delivered');
    await mock.shows('TOOL_RESULT ✓ answered 200');
    const [first] = call.callbacks;
    mock.type('r');
    const again = await call.waitFor(callback => callback !== first);
    expect(again.raw).toBe(first?.raw);
    expect(mock.emulator.raw).not.toContain(call.invocation.callback_url.split('/').at(-1));
  });

  test('f fires the event that a subscription waits for', async () => {
    await using folder = await temporaryFolder();
    const fixtures = await folder.write('watch.yaml', SUBSCRIPTION);
    await using mock = await openMock([fixtures], { columns: 180, rows: 40 });
    const call = await mock.call('watch', {});
    await mock.shows('? waiting: press f to send, 1 event');
    await mock.shows('waits     press f to send it');
    mock.type('f');
    await mock.shows('Sent.');
    await call.waitFor(({ body }) => body?.['final'] === true);
    await mock.shows(/✓ delivered .*, 2 events/);
  });

  test('R reads the fixture files again, without --watch', async () => {
    await using folder = await temporaryFolder();
    const fixtures = await folder.write('watch.yaml', SUBSCRIPTION);
    await using mock = await openMock([fixtures]);
    await folder.write('watch.yaml', SUBSCRIPTION.replace('operation: watch', 'operation: look'));
    mock.type('R');
    await mock.shows('reloaded 1 fixture');
    await mock.call('look', {});
    await mock.shows('waiting: press f to send');
    await folder.write('watch.yaml', 'version: 1\nfixtures: 7\n');
    mock.type('R');
    await mock.shows('keeping the previous fixtures');
  });
});

describe.concurrent('the terminal is restored', () => {
  /** The shell must outlive what the terminal sends to both. */
  const shell = (line: string) => openShell(`trap : INT HUP TERM; echo above; ${line}; ${LOOK_BACK}`);

  test('after q', async () => {
    await using screen = shell('$TOOL mock-tool');
    await screen.shows('No calls yet.');
    expect(screen.emulator.isAlternate).toBe(true);
    screen.type('q');
    expect(await screen.ended).toBe(0);
    expectRestored(screen, 0, ABOVE);
    expect(screen.emulator.history()).toContain('\n0 calls\n');
  });

  test('after SIGHUP', async () => {
    await using screen = shell("sh -c 'echo pid $$; exec $TOOL mock-tool'");
    await screen.shows('No calls yet.');
    const pid = await printedPid(screen);
    process.kill(pid, 'SIGHUP');
    expect(await screen.ended).toBe(0);
    expectRestored(screen, 0, ABOVE);
  });

  test('after a second signal, without waiting for pending calls', async () => {
    await using screen = shell("sh -c 'echo pid $$; exec $TOOL mock-tool --drain 60s'");
    await screen.shows('No calls yet.');
    const pid = await printedPid(screen);
    await using calling = await runtimeOf(screen);
    const call = await calling.call('edit_file', { path: 'a.txt' }, { answers: ['hang'] });
    await call.waitFor(() => true);
    process.kill(pid, 'SIGINT'); // another one: of the same kind, two at once are one
    process.kill(pid, 'SIGTERM');
    expect(await screen.ended).toBe(0);
    // Which of two that come at once is the second, the system decides.
    expectRestored(screen, screen.emulator.history().includes('status 130') ? 130 : 143, ABOVE);
  });

  test('after a crash, with the error printed', async () => {
    await using folder = await temporaryFolder();
    const handlers = await folder.write('tool.mjs', CRASHING);
    await using screen = shell(`$TOOL mock-tool --handlers ${handlers}`);
    await screen.shows('No calls yet.');
    await using calling = await runtimeOf(screen);
    await calling.call('crash', {});
    expect(await screen.ended).toBe(0);
    expectRestored(screen, 1, ABOVE);
    const said = screen.emulator.history();
    expect(said).toContain('internal error: Error: a fault of its own');
    expect(said).toContain('tool.mjs');
    expect(said).toContain('If the stack trace names one of your modules');
  });
});
