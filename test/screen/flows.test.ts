import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Folder, temporaryFolder } from '../e2e/support/folder.js';
import { startMockHere } from '../e2e/support/mock.js';
import { type Peer, startPeer } from '../e2e/support/peers.js';
import { startScript } from '../e2e/support/session-mock.js';
import { printedPid } from './support/printed-pid.js';
import { openProgram, openShell, type Screen } from './support/screen.js';
import { openHere, openStepsHere } from './support/screen-here.js';

const CTRL_C = '\u0003';
const ASKED = '⏎ choose';
/** Ends by a fault of its own as soon as reported to. */
const FAULT = `process.on('SIGUSR2', () => { throw new Error('a fault of its own'); });`;
/** It asks, and takes its time after that. */
const SLOW = `
version: 1
fixtures:
  - match: { operation: ask }
    reply:
      choice: { prompt: Which?, choices: [this, that], default: 0 }
      then: { this: [{ delay: 1s, payload: done }], that: { payload: done } }
`;

let plain: Peer;
let stdlib: Peer;
let folder: Folder;

beforeAll(async () => {
  [plain, stdlib, folder] = await Promise.all([startPeer('plain'), startPeer('stdlib'), temporaryFolder()]);
});

afterAll(() => Promise.all([plain.stop(), stdlib.stop(), folder[Symbol.asyncDispose]()]));

describe.concurrent('a page to visit', () => {
  test('threats, row 13: o opens it, and nothing else does; its URL is one argument', async () => {
    const { env, argv } = await fakeOpener('opens', 0);
    await using screen = openProgram(['invoke', plain.url, 'sign_in'], { columns: 120, env });
    await screen.shows('o opens it   Ctrl-C cancels');
    const [, url = ''] = /visit (\S+) to continue/.exec(screen.text()) ?? [];
    expect(await argv()).toEqual([]);
    screen.type('o');
    await screen.shows('opened in the browser');
    expect(await argv()).toEqual([url]);
    await fetch(url, { method: 'POST', body: new URLSearchParams({ decision: 'granted' }) });
    expect(await screen.ended).toBe(0);
    expect(screen.text()).toContain('signed in');
    expect(screen.text()).not.toMatch(/opens it|opened in/);
  });
});

describe.concurrent('a page to visit, for an agent session', () => {
  test('RT-OAUTH: its URL is shown whole, with its call, and stays if the page cannot be opened', async () => {
    const tools = [{ name: 'sign_in', description: 'Sign in', input_schema: { type: 'object' } }];
    const calls = [{ tool_name: 'sign_in', args: {}, id: 'call_1' }];
    const platform = await startScript({ session: { tools, rounds: [{ calls }], answer: 'Welcome' } });
    const { env } = await fakeOpener('fails-too', 3);
    const words = ['session', 'answer', platform.url, platform.session, '--tool', plain.url];
    await using screen = openProgram(words, { columns: 120, env: { ...env, API_KEY: platform.key } });
    await screen.shows('? sign_in call_1 asks\nvisit this URL to continue:\nhttp');
    const [, url = ''] = /continue:\n(\S+)/.exec(screen.text()) ?? [];
    screen.type('o');
    await screen.shows('it could not be opened (xdg-open ended with status 3): visit it yourself');
    await screen.shows('o consent page   U copy its URL');
    expect(screen.text()).toContain(`continue:\n${url}\n`);
    await fetch(url, { method: 'POST', body: new URLSearchParams({ decision: 'granted' }) });
    expect(await screen.ended).toBe(0);
    expect(screen.text()).not.toContain(url);
    await platform.stop();
  });
});

describe.concurrent('the terminal is restored', () => {
  /** The shell must outlive what the terminal sends to both. */
  const shell = (tool: string) =>
    openShell(`trap : INT HUP TERM; sh -c 'echo "pid $$"; exec ${tool}'; echo "status $?"; stty -a`);
  const asking = () => `$TOOL invoke ${stdlib.url} ask`;

  test.each([
    ['a page to visit', 130, () => `$TOOL invoke ${plain.url} sign_in`, 'o opens it'],
    ['a subscription', 130, () => `$TOOL invoke ${plain.url} watch events=1000 --follow`, '… subscribed: '],
  ])('after Ctrl-C at %s: exit %i', async (_, status, line, shown) => {
    await using screen = shell(line());
    await screen.shows(shown);
    screen.type(CTRL_C);
    expect(await screen.ended).toBe(0);
    expectRestored(screen, status);
    expect(screen.text()).not.toContain(shown);
  });

  test('after SIGTERM at a question: exit 143', async () => {
    await using screen = shell(asking());
    await screen.shows(ASKED);
    process.kill(await printedPid(screen), 'SIGTERM');
    expect(await screen.ended).toBe(0);
    expectRestored(screen, 143);
  });

  test('after a question: keys typed while waiting go to the shell', async () => {
    const fixtures = await folder.write('slow.yaml', SLOW);
    await using mock = await startMockHere([fixtures]);
    await using screen = openShell(`$TOOL invoke ${mock.url} ask; read line; echo "got [$line]"`);
    await screen.shows(ASKED);
    screen.type('\r');
    await screen.shows(/you picked[\s\S]*… waiting for the result/);
    screen.type('typed ahead\r');
    await screen.shows('got [typed ahead]');
  });

  test('after a crash at a question, with the error printed', async () => {
    const fault = await folder.write('fault.cjs', FAULT);
    await using screen = shell(`env NODE_OPTIONS="--require ${fault}" ${asking()}`);
    await screen.shows(ASKED);
    process.kill(await printedPid(screen), 'SIGUSR2');
    expect(await screen.ended).toBe(0);
    expectRestored(screen, 1);
    expect(screen.emulator.history()).toContain('a fault of its own');
  });
});

describe.concurrent('a followed subscription', () => {
  const watch = (...words: string[]) => ['invoke', plain.url, 'watch', '--follow', '-q', ...words];

  test('prints events as they arrive, and ends with the last one', async () => {
    await using screen = openHere(watch('events=4', 'every_ms=150'), { columns: 120 });
    await screen.shows(/… subscribed: 2 events, [\d.]+m?s; Ctrl-C cancels/);
    expect(screen.text()).toMatch(/event 2 → .*Event 2 of 4/);
    expect(screen.text()).toContain('LLM text, 8 bytes\nWatching');
    expect(await screen.ended).toBe(0);
    expect(screen.text()).toMatch(/last event 4 → .*Event 4 of 4/);
    expect(screen.text()).not.toContain('subscribed:');
  });

  test('with 1,000 events shows the newest, in one frame below earlier output', async () => {
    const [columns, rows] = [200, 60];
    const call = watch('events=1000', 'every_ms=0', 'way=pipelined');
    await using screen = openStepsHere(['before', call, 'status $?'], { columns, rows });
    expect(await screen.ended).toBe(0);
    const { emulator } = screen;
    expect(emulator.history()).toMatch(/^before\n/);
    expect(emulator.history()).toMatch(/Event 1000 of 1000/);
    expect(emulator.history().split('\n').length).toBeLessThanOrEqual(rows + 1);
    expect(emulator.history().match(/HUMAN/g)).toHaveLength(1);
    expect(emulator.history()).toMatch(/status 0$/);
    expect(emulator.raw).not.toContain('\u001b[3J');
  });
});

/** A search path with an `xdg-open` that records what it is given, each on a line of its own. */
async function fakeOpener(name: string, status: number) {
  const bin = folder.file(name);
  const record = join(bin, 'argv');
  await mkdir(bin);
  const script = `#!/bin/sh\nprintf '%s\\n' "$@" > '${record}'\nexit ${status}\n`;
  await writeFile(join(bin, 'xdg-open'), script, { mode: 0o755 });
  return {
    env: { PATH: `${bin}${delimiter}${process.env['PATH']}` },
    argv: async () => (await readFile(record, 'utf8').catch(() => '')).split('\n').filter(Boolean),
  };
}

function expectRestored({ emulator }: Screen, status: number): void {
  const history = emulator.history();
  expect(history).toContain(`status ${status}`);
  expect(emulator.isCursorVisible).toBe(true);
  expect(emulator.isAlternate).toBe(false);
  for (const setting of ['icanon', 'echo', 'isig'])
    expect(history).toMatch(new RegExp(`(?<!-)\\b${setting}\\b`));
  expect(emulator.raw).not.toContain('\u001b[3J');
}
