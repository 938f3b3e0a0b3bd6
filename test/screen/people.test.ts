import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { resultFor, startTool } from '../e2e/support/own-tool.js';
import { type Peer, startPeer } from '../e2e/support/peers.js';
import { openProgram, openShell, type Screen } from './support/screen.js';
import { openHere } from './support/screen-here.js';

const QUESTION = 'delete_all({}) is marked destructive. Call it? [y/N]';
const CTRL_C = '\u0003';
const CTRL_D = '\u0004';

let stdlib: Peer;

beforeAll(async () => {
  stdlib = await startPeer('stdlib');
});

afterAll(() => stdlib.stop());

test('invoke without an operation: a list, chosen from by number or name', async () => {
  await using screen = openProgram(['invoke', stdlib.url, '--dry-run']);
  await screen.shows('Operation (number or name):');
  expect(screen.text()).toContain('delete_all');
  screen.type('nothing\r');
  await screen.shows('no operation "nothing"');
  screen.type('delete_all\r');
  expect(await screen.ended).toBe(0);
  expect(screen.text()).toContain('"operation": "delete_all"');
});

test('invoke without an operation draws a list, chosen from with the arrow keys; Esc leaves it', async () => {
  await using tool = await startTool({
    first: { callbacks: invocation => [resultFor(invocation, 'one')] },
    second: { callbacks: invocation => [resultFor(invocation, 'two')] },
  });
  await using screen = openHere(['invoke', tool.url]);
  await screen.shows('Operation to call');
  await screen.shows(/❯.*first/);
  screen.type('\u001b[B');
  await screen.shows(/❯.*second/);
  screen.type('\r');
  expect(await screen.ended).toBe(0);
  expect(screen.text()).toContain('two');
  await using other = openHere(['invoke', tool.url]);
  await other.shows('Esc leave');
  other.type('\u001b');
  expect(await other.ended).toBe(2);
  expect(other.text()).toContain('no operation given. Available: first, second');
  expect(tool.invocations()).toHaveLength(1);
});

test('invoke without an operation: asks for the required arguments of the chosen one', async () => {
  const properties = { path: { type: 'string' }, lines: { type: 'integer' }, mode: { enum: ['a', 'b'] } };
  const inputSchema = { type: 'object', properties, required: ['path', 'lines'] };
  await using tool = await startTool({ cut: { inputSchema } });
  await using screen = openHere(['invoke', tool.url, '--dry-run']);
  await screen.shows('Operation (number or name):');
  screen.type('1\r');
  await screen.shows('Optional: mode (give them as key=value)');
  await screen.shows('path:');
  screen.type('a.txt\r');
  await screen.shows('lines:');
  screen.type('many\r');
  await screen.shows('lines must be integer');
  screen.type('3\r');
  expect(await screen.ended).toBe(0);
  expect(screen.text()).toMatch(/"path": "a.txt",\s*"lines": 3/);
});

test('--repeat asks no question of a tool, even on a terminal: exit 6', async () => {
  const call = ['invoke', '--demo', 'write_outside', 'path=a', '--repeat', '2', '--timeout', '5s'];
  await using screen = openHere(call);
  expect(await screen.ended).toBe(6);
  expect(screen.text()).toContain('2 calls: 2 without a result');
  expect(screen.text()).not.toContain('Your choice');
});

describe.concurrent('a destructive tool', () => {
  test('is called after y', async () => {
    await using screen = openHere(['invoke', stdlib.url, 'delete_all', '--id', 'said-yes']);
    await screen.shows(QUESTION);
    screen.type('y\r');
    expect(await screen.ended).toBe(0);
    expect(screen.text()).toContain('Deleted all 3 files');
    await stdlib.seen('invocation', ({ raw }) => raw.includes('said-yes'));
  });

  test.each([
    ['n', 'n\r'],
    ['nothing', '\r'],
  ])('is not called after %s: exit 5', async (_, keys) => {
    await using screen = openHere(['invoke', stdlib.url, 'delete_all', '--id', 'said-no']);
    await screen.shows(QUESTION);
    screen.type(keys);
    expect(await screen.ended).toBe(5);
    expect(screen.text()).toContain('error: delete_all was not called: declined by you');
    expect((await stdlib.log()).filter(({ raw }) => raw.includes('said-no'))).toEqual([]);
  });

  test('keeps its question on one row, whole and once, while the user types', async () => {
    await using screen = openProgram(['invoke', stdlib.url, 'delete_all']);
    await screen.shows(QUESTION);
    for (const typed of ['m', 'ma', 'may']) {
      screen.type(typed.slice(-1));
      await screen.emulator.waitFor(`the answer so far is ${typed}`, () =>
        screen.emulator.rows().includes(`${QUESTION} ${typed}`),
      );
    }
    screen.type('\r');
    expect(await screen.ended).toBe(5);
    expect(screen.emulator.history().split(QUESTION)).toHaveLength(2);
  });

  test('is not called after Ctrl-C: exit 130, the terminal restored', async () => {
    await using screen = atQuestion();
    await screen.shows(QUESTION);
    screen.type(CTRL_C);
    await expectLeft(screen, 130);
  });

  test('is not called after the end of input (Ctrl-D): exit 5, as after n', async () => {
    await using screen = atQuestion();
    await screen.shows(QUESTION);
    screen.type(CTRL_D);
    await expectLeft(screen, 5);
  });
});

describe.concurrent('a tool that needs the user', () => {
  test('shows the whole URL to visit, and goes on afterwards', async () => {
    await using screen = openHere(['invoke', stdlib.url, 'login', 'ms=500'], { columns: 120 });
    await screen.shows(/• visit https?:\/\/\S+ to continue/);
    await screen.shows('… waiting for you');
    expect(await screen.ended).toBe(0);
    expect(screen.text()).toContain('authorised');
    expect(screen.text()).not.toContain('opens it');
  });

  test.each([
    ['\u001b[B\r', 'Chosen: production'],
    ['j\u001b', 'Chosen: staging'], // dismissed: the default
  ])('RT-CHOICE: asks its question, and posts the choice for %j', async (keys, said) => {
    await using screen = openHere(['invoke', stdlib.url, 'ask'], { columns: 160 });
    await screen.shows('⏎ choose');
    for (const row of ['Which environment?', '❯ 0 staging (default)', '  1 production', '  2 neither'])
      expect(screen.emulator.rows()).toContain(row);
    screen.type(keys);
    expect(await screen.ended).toBe(0);
    expect(screen.text()).toContain(said);
    expect(screen.text()).toMatch(/✓ selection sent, answered 200/);
    expect(screen.text()).not.toContain('⏎ choose');
  });

  test('withdraws its question at Ctrl-C, and selects nothing', async () => {
    await using screen = openHere(['invoke', stdlib.url, 'ask'], { columns: 160 });
    await screen.shows('⏎ choose');
    screen.type(CTRL_C);
    expect(await screen.ended).toBe(130);
    expect(screen.text()).toMatch(/call canceled, answered 200/);
    expect(screen.text()).not.toContain('selection sent');
    expect(screen.text()).not.toContain('⏎ choose');
  });

  test('exits with 130 at two Ctrl-C at once, the terminal restored', async () => {
    await using screen = openProgram(['invoke', stdlib.url, 'ask'], { columns: 160 });
    await screen.shows('⏎ choose');
    screen.type(CTRL_C + CTRL_C);
    await screen.shows('interrupted before the result arrived');
    expect(await screen.ended).toBe(130);
    expect(screen.emulator.isCursorVisible).toBe(true);
  });
});

describe.concurrent('a tool that asks, without a screen', () => {
  const PLAIN = ['-o', 'plain'];

  test.each([
    ['Neither\r', 'Chosen: neither'],
    ['\r', 'Chosen: staging'], // dismissed: the default
  ])('asks for a line, and posts the choice for %j', async (keys, said) => {
    await using screen = openHere(['invoke', stdlib.url, 'ask', ...PLAIN], { columns: 160 });
    await screen.shows('Your choice [0]');
    for (const row of ['Which environment?', '  0 staging (default)', '  1 production', '  2 neither'])
      expect(screen.emulator.rows()).toContain(row);
    screen.type(keys);
    expect(await screen.ended).toBe(0);
    expect(screen.text()).toContain(said);
  });

  test('asks again after an invalid answer', async () => {
    await using screen = openHere(['invoke', stdlib.url, 'ask', ...PLAIN], { columns: 160 });
    await screen.shows('Your choice [0]');
    screen.type('7\r');
    await screen.shows(
      /Your choice \[0\] 7\s+7 is not one of the choices; give a number or a label\.\s+Your choice \[0\]/,
    );
    screen.type('1\r');
    expect(await screen.ended).toBe(0);
    expect(screen.text()).toContain('Chosen: production');
  });

  test('withdraws its question at Ctrl-C, and selects nothing', async () => {
    await using screen = openHere(['invoke', stdlib.url, 'ask', ...PLAIN], { columns: 160 });
    await screen.shows('Your choice [0]');
    screen.type(CTRL_C);
    expect(await screen.ended).toBe(130);
    expect(screen.text()).toMatch(/call canceled, answered 200/);
    expect(screen.text()).not.toContain('selection sent');
  });
});

/** The shell outlives the program, and tells its status and what it left of the terminal. */
function atQuestion(): Screen {
  const call = `exec $TOOL invoke ${stdlib.url} delete_all --id at-question`;
  return openShell(`trap : INT; sh -c 'echo "pid $$"; ${call}'; echo "status $?"; stty -a`);
}

async function expectLeft({ ended, emulator }: Screen, status: number): Promise<void> {
  await emulator.waitFor('the program has ended', () => emulator.text().includes('status '));
  expect(await ended).toBe(0);
  expect(emulator.history()).toContain(`status ${status}`);
  expect(emulator.isCursorVisible).toBe(true);
  expect(emulator.history()).toMatch(/(?<!-)\bicanon\b/);
  expect((await stdlib.log()).filter(({ raw }) => raw.includes('at-question'))).toEqual([]);
}
