import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../e2e/support/folder.js';
import { fieldOf, type Peer, startPeer } from '../e2e/support/peers.js';
import { printedPid } from './support/printed-pid.js';
import { expectRestored, LOOK_BACK } from './support/restored.js';
import { openShell } from './support/screen.js';

const WAITING = '… waiting for the result';
const CTRL_C = '\u0003';
/** Loaded into the same process: an error that no one catches, when it is asked to. */
const FAULTY = "process.on('SIGUSR2', () => { throw new Error('a fault of ours'); });";

let plain: Peer;

beforeAll(async () => {
  plain = await startPeer('plain');
});

afterAll(() => plain.stop());

/** What the shell sees of a program that was asked to stop, and what the same terminal is like afterwards. */
describe.concurrent('an interrupted live view', () => {
  const slow = (id: string) => `$TOOL invoke ${plain.url} slow ms=60000 --id ${id}`;
  /** The shell must outlive what the terminal sends to both. */
  const shell = (line: string) => openShell(`trap : INT HUP TERM; ${line}; ${LOOK_BACK}`);

  test('Ctrl-C restores the terminal, exits with 130 and cancels the call', async () => {
    await using screen = shell(slow('by-ctrl-c'));
    await screen.shows(WAITING);
    expect(screen.emulator.isCursorVisible).toBe(false);
    screen.type(CTRL_C);
    await screen.shows(/✗ interrupted/);
    expect(await screen.ended).toBe(0);
    expectRestored(screen, 130);
    expect(screen.text()).toContain('interrupted before the result arrived');
    const { body } = await plain.seen('cancel_tool_call', entry => entry.raw.includes('by-ctrl-c'));
    expect(fieldOf({ body }, 'tool_call_id')).toBe('by-ctrl-c');
    const thread = fieldOf({ body }, 'thread_id');
    await plain.seen('close_thread', entry => fieldOf(entry, 'thread_id') === thread);
  });

  test.each([
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('%s restores the terminal, exits with %i and cancels the call', async (signal, status) => {
    await using screen = shell(`${slow(signal)} & child=$!; echo "pid $child"; wait $child; wait $child`);
    await plain.seen('invocation', entry => entry.raw.includes(signal));
    process.kill(await printedPid(screen), signal);
    expect(await screen.ended).toBe(0);
    expectRestored(screen, status);
    await plain.seen('cancel_tool_call', entry => entry.raw.includes(signal));
  });

  test('an uncaught error restores the terminal, names its origin, and cancels the call', async () => {
    await using folder = await temporaryFolder();
    const faulty = await folder.write('faulty.mjs', FAULTY);
    await using screen = shell(
      `NODE_OPTIONS="--import ${faulty}" ${slow('faulty')} & child=$!; echo "pid $child"; wait $child`,
    );
    await plain.seen('invocation', entry => entry.raw.includes('faulty'));
    process.kill(await printedPid(screen), 'SIGUSR2');
    expect(await screen.ended).toBe(0);
    expectRestored(screen, 1);
    expect(screen.text()).toContain('internal error: a fault of ours');
    await plain.seen('cancel_tool_call', entry => entry.raw.includes('faulty'));
  });
});
