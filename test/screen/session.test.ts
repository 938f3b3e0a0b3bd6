import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startMockHere } from '../e2e/support/mock.js';
import { type Peer, startPeer } from '../e2e/support/peers.js';
import { ROOT } from '../e2e/support/program.js';
import { type SessionMockHere, startScript } from '../e2e/support/session-mock.js';
import { openProgram, openShell, type ScreenOptions } from './support/screen.js';
import { openHere } from './support/screen-here.js';

const tools = ['edit_file', 'slow'].map(name => ({
  name,
  description: name,
  input_schema: { type: 'object' },
}));
const edit = { tool_name: 'edit_file', args: { path: 'src/main.rs' }, id: 'call_1' };
const SCRIPT = { session: { tools, rounds: [{ calls: [edit] }], answer: 'All done: {{results.call_1}}' } };
const SLOW = {
  session: { tools, rounds: [{ calls: [{ tool_name: 'slow', args: { ms: 60_000 }, id: 'call_1' }] }] },
};
const LASTING = {
  session: { tools, rounds: [{ calls: [edit, { tool_name: 'slow', args: { ms: 60_000 }, id: 'call_2' }] }] },
};
const DESTRUCTIVE = {
  session: {
    tools: [{ name: 'delete_file', description: 'Delete', input_schema: { type: 'object' } }],
    rounds: [{ calls: [{ tool_name: 'delete_file', args: { path: 'a' }, id: 'call_1' }] }],
    answer: 'Kept',
  },
};
const CTRL_C = '\u0003';

let plain: Peer;
const platforms: SessionMockHere[] = [];

beforeAll(async () => {
  plain = await startPeer('plain');
});

afterAll(() => Promise.all([plain.stop(), ...platforms.map(platform => platform.stop())]));

/** A platform that plays this, and how the program is asked to answer it with a RAP tool. */
async function answering(script: object, { env, ...size }: ScreenOptions = {}) {
  const platform = await startScript(script);
  platforms.push(platform);
  const words = ['session', 'answer', platform.url, platform.session, '--tool', plain.url];
  return [words, { ...size, env: { API_KEY: platform.key, ...env } }] as const;
}

describe.concurrent('session answer', () => {
  test('runs full screen; at the end prints its state, its calls and the answer of the agent', async () => {
    await using screen = openHere(...(await answering(SCRIPT, { columns: 160, rows: 40 })));
    expect(await screen.ended).toBe(0);
    const text = screen.text();
    expect(text).toMatch(/^✓ completed after .* · 1 round · 1 of 1 calls answered$/m);
    expect(text).toMatch(/ edit_file +\{"path":"src\/main\.rs"\} +call_1 +✓ success, posted 202 after /m);
    expect(text).toContain('ANSWER\nAll done: Replaced text in src/main.rs');
    expect([screen.emulator.isCursorVisible, screen.emulator.isAlternate]).toEqual([true, false]);
  });

  test('a running call has its panes side by side at 160 columns or more', async () => {
    await using screen = openHere(...(await answering(LASTING, { columns: 240, rows: 40 })));
    await screen.shows('… success, to be posted');
    expect(screen.emulator.isAlternate).toBe(true);
    screen.type('k2');
    await screen.shows(/HUMAN display_as\[0\] diff .* LLM text, \d+ bytes/);
  });

  test('leaves its screen to ask before a destructive call', async () => {
    const mock = await startMockHere([join(ROOT, 'fixtures/examples/toolset.yaml')]);
    const platform = await startScript(DESTRUCTIVE);
    platforms.push(platform);
    const words = ['session', 'answer', platform.url, platform.session, '--tool', mock.url];
    await using screen = openHere(words, { columns: 120, env: { API_KEY: platform.key } });
    await screen.shows('delete_file({"path":"a"}) is marked destructive. Call it? [y/N]');
    expect(screen.emulator.isAlternate).toBe(false);
    screen.type('n\r');
    expect(await screen.ended).toBe(0);
    expect(screen.text()).toMatch(/delete_file +\{"path":"a"\} +call_1 +✗ denied/);
    await mock.stop();
  });

  test('Ctrl-C exits with 130, and restores the terminal', async () => {
    const [words, options] = await answering(SLOW);
    const line = `$TOOL ${words.join(' ')}; status=$?; stty -a | grep -ow -- '-*icanon'; (exit $status)`;
    await using screen = openShell(line, options);
    await screen.shows('… acknowledged after');
    screen.type(CTRL_C);
    expect(await screen.ended).toBe(130);
    expect(screen.text()).toMatch(/^icanon$/m);
    expect([screen.emulator.isCursorVisible, screen.emulator.isAlternate]).toEqual([true, false]);
  });
});

describe.concurrent('session mock', () => {
  test('shows its sessions on the alternate screen; q ends it, and a line sums up', async () => {
    await using screen = openHere(['session', 'mock'], { columns: 120, rows: 24 });
    await screen.shows(
      /session mock {2}http:\/\/127\.0\.0\.1:\d+ {2}00000000-0000-4000-8000-000000000001\nkey \S{32}\n/,
    );
    await screen.shows('… pending');
    expect(screen.emulator.isAlternate).toBe(true);
    screen.type('q');
    expect(await screen.ended).toBe(0);
    expect([screen.emulator.isCursorVisible, screen.emulator.isAlternate]).toEqual([true, false]);
    expect(screen.text()).toContain('1 session · 1 waiting for results · 1 call');
  });

  test('ends at two Ctrl-C at once, and leaves the alternate screen', async () => {
    await using screen = openProgram(['session', 'mock'], { columns: 120, rows: 24 });
    await screen.shows('… pending');
    screen.type(CTRL_C + CTRL_C);
    expect(await screen.ended).toBe(0);
    expect([screen.emulator.isCursorVisible, screen.emulator.isAlternate]).toEqual([true, false]);
  });
});
