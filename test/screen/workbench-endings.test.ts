import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/system/clock.js';
import { fullScreen } from '../../src/tui/full-screen.js';
import { EMPTY_SCREEN, reduceScreen, type ScreenState } from '../../src/tui/screen/state.js';
import { createStore } from '../../src/tui/store.js';
import { temporaryFolder } from '../e2e/support/folder.js';
import { runHere } from '../e2e/support/in-process.js';
import { fieldOf, type Peer, startPeer } from '../e2e/support/peers.js';
import { Emulator } from './support/emulator.js';
import { fakeKeyboard } from './support/fake-keyboard.js';
import { fakeTerminal } from './support/fake-terminal.js';
import { printedPid } from './support/printed-pid.js';
import { expectRestored, LOOK_BACK } from './support/restored.js';
import { openProgram, openShell, type Screen, type ScreenOptions } from './support/screen.js';
import { openHere, openStepsHere } from './support/screen-here.js';

const CTRL_C = '\u0003';

const CTRL_R = '\u0012';

/** More than the screen has rows: most of it is scrolled away. */
const ABOVE = Array.from({ length: 60 }, (_, index) => `${index + 1}\n`).join('');

/** Loaded into the same process: an error that no one catches, when it is asked to. */
const FAULTY = "process.on('SIGUSR2', () => { throw new Error('a fault of ours'); });";

let plain: Peer;

beforeAll(async () => {
  plain = await startPeer('plain');
});

afterAll(() => plain.stop());

describe.concurrent('the terminal is restored', () => {
  test('after q: at once if nothing is pending', async () => {
    await using screen = shell('$TOOL invoke -i --demo');
    await screen.shows('❯   edit_file');
    expect(screen.emulator.isAlternate).toBe(true);
    expect(screen.emulator.isCursorVisible).toBe(false);
    screen.type('q');
    await expectEnded(screen, 0);
  });

  test('after Ctrl-C twice if a call is pending: the tool is notified, of the thread too', async () => {
    const { screen, id } = await waiting();
    await using _screen = screen;
    screen.type(CTRL_C);
    await screen.shows('A call is pending and will be canceled: press again to quit.');
    screen.type(CTRL_C);
    await expectEnded(screen, 0);
    await expectCancelled(id);
  });

  test.each([
    ['SIGTERM', 143],
    ['SIGQUIT', 131],
  ] as const)('after %s, with %i: the tool is notified', async (signal, status) => {
    const { screen, id, pid } = await waiting();
    await using _screen = screen;
    process.kill(pid, signal);
    await expectEnded(screen, status);
    await expectCancelled(id);
  });

  test('after its window was closed: the tool is notified', async () => {
    await using screen = openProgram(['invoke', '-i', plain.url, 'slow', 'ms=60000']);
    const id = await begun(screen);
    screen.hangUp();
    expect(await screen.ended).toBe(129);
    await expectCancelled(id);
  });

  test('after an uncaught error, which is reported: the tool is notified', async () => {
    await using folder = await temporaryFolder();
    const { screen, id, pid } = await waiting(
      `--import ${await folder.write('faulty.mjs', FAULTY)}`,
      'DEBUG=1',
    );
    await using _screen = screen;
    process.kill(pid, 'SIGUSR2');
    await expectEnded(screen, 1);
    const said = withoutSpace(screen.emulator.history());
    expect(said).toContain(withoutSpace('internal error: Error: a fault of ours'));
    expect(said).toContain(withoutSpace('This is a bug in protocol-cli. Please report it'));
    expect(said).toContain('faulty.mjs');
    await expectCancelled(id);
  });

  test('after the terminal was tiny for a while', async () => {
    await using screen = openHere(['invoke', '-i', plain.url, 'slow', 'ms=60000']);
    const id = await begun(screen);
    for (const [columns, rows] of [
      [39, 7],
      [20, 4],
      [2, 2],
      [1, 1],
      [100, 30],
    ] as const)
      screen.resize({ columns, rows });
    await screen.emulator.waitFor('a whole frame', () => {
      const rows = screen.emulator.rows();
      return rows[0]?.startsWith('protocol-cli  ') === true && rows.at(-2)?.endsWith('q quit') === true;
    });
    await screen.shows(id.slice(0, 8));
    screen.type('qq');
    await screen.ended;
    expect(screen.emulator.isAlternate).toBe(false);
    expect(screen.emulator.isCursorVisible).toBe(true);
    expect(screen.emulator.raw).not.toContain('\u001b[3J');
    await expectCancelled(id);
  });
});

describe.concurrent('without a usable terminal it suggests other commands', () => {
  const NEEDS = 'error: the workbench needs a terminal of at least 40×8 on stdin and stdout, outside CI';
  const INSTEAD = 'hint: protocol-cli invoke <url> <operation> needs no terminal; see protocol-cli --help.';

  test.each<[string, ScreenOptions]>([
    ['too narrow', { columns: 39 }],
    ['a dumb one', { env: { TERM: 'dumb' } }],
    ['of a machine in CI', { env: { CI: 'true' } }],
  ])('a terminal that is %s', async (_, options) => {
    await using screen = openStepsHere(['above', ['invoke', '-i', '--demo'], 'status $?'], options);
    expect(await screen.ended).toBe(2);
    expectSaid(screen);
  });

  test.each([
    ['too low, and it was called by its name alone', '$TOOL', { rows: 7 }],
    ['the writer of a pipe', 'echo | $TOOL invoke -i --demo', {}],
  ])('a terminal that is %s', async (_, line, size) => {
    await using screen = openShell(`echo above; ${line}; echo "status $?"`, size);
    expect(await screen.ended).toBe(0);
    expectSaid(screen);
  });

  function expectSaid({ emulator }: Pick<Screen, 'emulator'>): void {
    const said = withoutSpace(emulator.history());
    for (const words of [NEEDS, INSTEAD]) expect(said).toContain(withoutSpace(words));
    expect(said).toMatch(/^above.*status/);
    expect(emulator.raw).not.toContain('\u001b');
  }

  test('no terminal: exit 2, and nothing on stdout', async () => {
    const { status, stdout, stderr } = await runHere(['invoke', '-i', '--demo']);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain(NEEDS);
    expect(stderr).toContain(INSTEAD);
  });
});

test('an error in the first frame leaves the terminal unchanged', () => {
  const size = { columns: 80, rows: 24 };
  const emulator = new Emulator(size);
  const { stream: stdout } = fakeTerminal(emulator, size);
  const play = {
    store: createStore(reduceScreen<never, ScreenState<never>>, EMPTY_SCREEN),
    press() {},
    layout(): never {
      throw new Error('a fault of ours');
    },
    load: () => Promise.reject(new Error('is not loaded')),
  };
  const terminal = { stdin: fakeKeyboard().stream, stdout, clock: systemClock, level: 0 } as const;
  expect(() => fullScreen(play, terminal)).toThrow('a fault of ours');
  expect(emulator.raw).toBe('');
});

/** The shell must outlive what the terminal sends to both. */
function shell(line: string): Screen {
  return openShell(`trap : INT HUP TERM QUIT; seq 60; ${line}; ${LOOK_BACK}`);
}

/** A workbench whose call goes on for a minute. */
async function waiting(nodeOptions = '', env = '') {
  const line = `sh -c 'echo pid $$; exec $TOOL invoke -i ${plain.url} slow ms=60000'`;
  const screen = shell(`NODE_OPTIONS="${nodeOptions}" ${env} ${line}`);
  const id = await begun(screen);
  return { screen, id, pid: await printedPid(screen) };
}

/** Calls what the form is for; how the id of the call begins. */
async function begun(screen: Pick<Screen, 'shows' | 'type' | 'text'>): Promise<string> {
  await screen.shows('[Form slow]');
  screen.type(CTRL_R);
  await screen.shows('1 running');
  const [id = ''] = /call_[\w-]+/.exec(screen.text()) ?? [];
  return id;
}

async function expectEnded(screen: Screen, status: number): Promise<void> {
  expect(await screen.ended).toBe(0);
  expectRestored(screen, status, ABOVE);
}

async function expectCancelled(id: string): Promise<void> {
  const { body } = await plain.seen('cancel_tool_call', entry =>
    fieldOf(entry, 'tool_call_id').startsWith(id),
  );
  const thread = fieldOf({ body }, 'thread_id');
  await plain.seen('close_thread', entry => fieldOf(entry, 'thread_id') === thread);
}

/** Where rows are wrapped depends on the width. */
function withoutSpace(text: string): string {
  return text.replaceAll(/\s/g, '');
}
