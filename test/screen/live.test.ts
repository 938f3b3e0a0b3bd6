import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type OwnTool, startTool } from '../e2e/support/own-tool.js';
import { type Peer, startPeer } from '../e2e/support/peers.js';
import { display, resultWith } from './support/results.js';
import { openProgram } from './support/screen.js';
import { openHere } from './support/screen-here.js';

const WIDE = { columns: 160, rows: 40 };

let plain: Peer;
let own: OwnTool;

beforeAll(async () => {
  [plain, own] = await Promise.all([
    startPeer('plain'),
    startTool({ long: resultWith({ text: 'short', display_as: [display.text(numbered(200))] }) }),
  ]);
});

afterAll(() => Promise.all([plain.stop(), own[Symbol.asyncDispose]()]));

describe.concurrent('the steps', () => {
  test('appear as they happen, each with its time', async () => {
    await using screen = openProgram(['invoke', plain.url, 'slow', 'ms=400'], WIDE);
    await screen.shows(/✓ discovered plain-tool \(\d+ operations\) at http:\S+ in [\d.]+m?s/);
    await screen.shows(/✓ acknowledged with 200 after [\d.]+m?s/);
    expect(screen.text()).not.toContain('✓ result');
    await screen.shows(/✓ result after (\d{3}ms|[\d.]+s)/);
    await screen.shows(/✓ thread closed, answered 200 after [\d.]+m?s/);
    expect(await screen.ended).toBe(0);
    expect(screen.text()).not.toContain('waiting');
  });

  test('have a running clock while the result is awaited', async () => {
    await using screen = openHere(['invoke', plain.url, 'slow', 'ms=900'], WIDE);
    const times = new Set<string>();
    await screen.emulator.waitFor('three times are seen', () => {
      const [, time] = /… waiting for the result (\S+)/.exec(screen.text()) ?? [];
      if (time !== undefined) times.add(time);
      return times.size >= 3;
    });
    expect(await screen.ended).toBe(0);
  });
});

describe.concurrent('the panes', () => {
  test('show the beginning of long texts, and how many lines more there are', async () => {
    await using screen = openHere(['invoke', own.url, 'long', '-q'], { columns: 80, rows: 30 });
    expect(await screen.ended).toBe(0);
    expect(screen.emulator.rows()).toContain('line 1');
    const [, more = '0'] = /^… (\d+) more lines \(.*-o plain shows all\)$/m.exec(screen.text()) ?? [];
    const shown = screen.text().match(/^line \d+$/gm)?.length ?? 0;
    expect(shown).toBeGreaterThan(5);
    expect(shown + Number(more)).toBe(200);
    expect(screen.emulator.scrollback()).toEqual([]);
  });
});

function numbered(count: number): string {
  return Array.from({ length: count }, (_, index) => `line ${index + 1}`).join('\n');
}
