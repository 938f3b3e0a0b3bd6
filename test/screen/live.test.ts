import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type OwnTool, startTool } from '../e2e/support/own-tool.js';
import { type Peer, startPeer } from '../e2e/support/peers.js';
import { display, resultWith } from './support/results.js';
import { openProgram } from './support/screen.js';
import { openHere } from './support/screen-here.js';

const WIDE = { columns: 160, rows: 40 };
const NARROW = { columns: 80, rows: 40 };

let plain: Peer;
let odd: Peer;
let own: OwnTool;

beforeAll(async () => {
  [plain, odd, own] = await Promise.all([
    startPeer('plain'),
    startPeer('odd'),
    startTool({ long: resultWith({ text: 'short', display_as: [display.text(numbered(200))] }) }),
  ]);
});

afterAll(() => Promise.all([plain.stop(), odd.stop(), own[Symbol.asyncDispose]()]));

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

  test('show a clock that runs while the result is awaited', async () => {
    await using screen = openHere(['invoke', plain.url, 'slow', 'ms=900'], WIDE);
    const times = new Set<string>();
    await screen.emulator.waitFor('three times are seen', () => {
      const [, time] = /… waiting for the result (\S+)/.exec(screen.text()) ?? [];
      if (time !== undefined) times.add(time);
      return times.size >= 3;
    });
    expect(await screen.ended).toBe(0);
  });

  test('say so where the tool never answers', async () => {
    await using screen = openHere(['invoke', odd.url, 'silent', '--timeout', '300ms'], NARROW);
    expect(await screen.ended).toBe(7);
    expect(screen.text()).toMatch(/✗ timed out after 300ms/);
    expect(screen.text()).toContain('LLM made by this runtime');
  });
});

describe.concurrent('the panes', () => {
  test('stand side by side at 160 columns: the chosen segment with the reason, and what the LLM gets', async () => {
    await using screen = openHere(['invoke', plain.url, 'edit_file', 'path=a.txt'], WIDE);
    expect(await screen.ended).toBe(0);
    const rows = screen.emulator.rows();
    const top = rows.findIndex(row => row.startsWith('HUMAN'));
    expect(rows[top]).toMatch(/^HUMAN display_as\[0\] diff \(the first segment\) +LLM text, 22 bytes$/);
    expect(rows[top + 1]).toMatch(/^a\.txt \+1 −1 +Replaced text in a\.txt$/);
    expect(rows[top + 1]?.indexOf('Replaced')).toBe(rows[top]?.indexOf('LLM'));
  });

  test('stand one below the other at 80 columns', async () => {
    await using screen = openHere(['invoke', plain.url, 'edit_file', 'path=a.txt'], NARROW);
    expect(await screen.ended).toBe(0);
    const rows = screen.emulator.rows();
    const human = rows.indexOf('HUMAN display_as[0] diff (the first segment)');
    const llm = rows.indexOf('LLM text, 22 bytes');
    expect(human).toBeGreaterThan(0);
    expect(llm).toBeGreaterThan(human + 1);
    expect(rows[llm + 1]).toBe('Replaced text in a.txt');
  });

  test('name every segment that was skipped, and why', async () => {
    await using screen = openHere(['invoke', odd.url, 'unknown_segments'], NARROW);
    expect(await screen.ended).toBe(0);
    expect(screen.text()).toContain('HUMAN display_as[1] text (');
    expect(screen.text()).toMatch(/^skipped display_as\[0\] hologram: .+$/m);
    expect(screen.text()).toContain('shown after a hologram');
  });

  test('fall back to the text where no segment can be drawn', async () => {
    await using screen = openHere(['invoke', odd.url, 'unknown_only'], NARROW);
    expect(await screen.ended).toBe(0);
    expect(screen.text()).toMatch(/^HUMAN text \(.+\)$/m);
    expect(screen.text()).toMatch(/^skipped display_as\[0\] hologram/m);
    expect(screen.text()).toMatch(/^skipped display_as\[1\] scent/m);
  });

  test('indent JSON for the eye, lose neither its numbers nor its doubled keys, and say that it is sent as it is', async () => {
    await using screen = openHere(['invoke', plain.url, 'json'], NARROW);
    expect(await screen.ended).toBe(0);
    expect(screen.text()).toContain('pretty-printed');
    for (const row of ['  "instances": [', '  "serial": 9007199254740993,', '  "count": 1,', '  "count": 2'])
      expect(screen.emulator.rows()).toContain(row);
  });

  test('show the head of what is longer than the screen, and how much there is more', async () => {
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
