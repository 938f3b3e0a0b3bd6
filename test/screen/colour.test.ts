import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Peer, startPeer } from '../e2e/support/peers.js';
import { openProgram } from './support/screen.js';
import { openHere } from './support/screen-here.js';

let plain: Peer;

beforeAll(async () => {
  plain = await startPeer('plain');
});

afterAll(() => plain.stop());

describe.concurrent('colour', () => {
  const call = () => ['invoke', plain.url, 'edit_file', 'path=a.txt'];

  test('is the default', async () => {
    await using screen = openProgram(call());
    expect(await screen.ended).toBe(0);
    expect(screen.emulator.colours.size).toBeGreaterThan(0);
  });

  test.each([
    ['NO_COLOR', [], { NO_COLOR: '1' }],
    ['--no-color', ['--no-color'], {}],
  ] as const)('is off with %s; the signs stay', async (_, words, env) => {
    await using screen = openHere([...call(), ...words], { env });
    expect(await screen.ended).toBe(0);
    expect([...screen.emulator.colours]).toEqual([]);
    expect(screen.text()).toContain('2   - old line 1');
    expect(screen.text()).toContain('  2 + new line 1');
  });

  test('is off in plain mode too', async () => {
    await using screen = openHere([...call(), '-o', 'plain'], { env: { NO_COLOR: '1' } });
    expect(await screen.ended).toBe(0);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what is looked for
    expect(screen.emulator.raw).not.toMatch(/\u001b/);
  });
});
