import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runHere } from '../e2e/support/in-process.js';
import { type Peer, startPeer } from '../e2e/support/peers.js';
import { openShell, type Screen } from './support/screen.js';
import { openHere } from './support/screen-here.js';

const SYNCHRONISED = '\u001b[?2026h';
const HIDE_CURSOR = '\u001b[?25l';

let plain: Peer;
let odd: Peer;

beforeAll(async () => {
  [plain, odd] = await Promise.all([startPeer('plain'), startPeer('odd')]);
});

afterAll(() => Promise.all([plain.stop(), odd.stop()]));

/** Where a live view would do harm, or no one would see it, events are printed as lines and never redrawn. */
describe.concurrent('no live view', () => {
  test.each([
    ['CI is empty', {}, { CI: '' }],
    ['CONTINUOUS_INTEGRATION is set', {}, { CONTINUOUS_INTEGRATION: '1' }],
    ['the terminal is lower than 8 rows', { columns: 80, rows: 7 }, {}],
  ])('%s: plain', async (_, size, env) => {
    await using screen = openHere(['invoke', plain.url, 'echo', 'text=hello'], { ...size, env });
    expect(await screen.ended).toBe(0);
    expectPlain(screen);
    expect(screen.emulator.history()).toMatch(/✓ result after/);
    expect(screen.emulator.history()).toMatch(/^LLM text, 5 bytes$/m);
  });

  test('stdin is not a terminal: plain', async () => {
    await using screen = openShell(`$TOOL invoke ${plain.url} echo text=hello </dev/null`);
    expect(await screen.ended).toBe(0);
    expectPlain(screen);
  });

  test('-o ui while stdout is a pipe: exit 2, with a hint', async () => {
    const ended = await runHere(['invoke', plain.url, 'echo', 'text=hello', '-o', 'ui']);
    expect(ended.status).toBe(2);
    expect(ended.stdout).toBe('');
    expect(ended.stderr).toMatch(/^error: -o ui needs a terminal/);
    expect(ended.stderr).toContain('hint: Use -o plain.');
  });

  test('stdout is a pipe: the text only, though stdin and stderr are terminals', async () => {
    await using screen = openShell(`$TOOL invoke ${plain.url} echo text=hello | od -c`);
    expect(await screen.ended).toBe(0);
    expectPlain(screen);
    expect(screen.text()).toContain('0000000   h   e   l   l   o');
  });

  test('-o text, with control characters made visible on a terminal (threats, row 24)', async () => {
    await using screen = openHere(['invoke', odd.url, 'hostile_text', '-o', 'text', '-q']);
    expect(await screen.ended).toBe(0);
    expect(screen.text()).toContain('text ␛]0;owned title␇');
    expect(screen.emulator.mischief).toEqual({ commands: [], titles: [], bells: 0 });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what is looked for
    expect(screen.emulator.raw).not.toMatch(/[\u0000-\u0009\u000b\u000c\u000e-\u001f\u007f-\u009f]/);
  });
});

function expectPlain({ emulator }: Pick<Screen, 'emulator'>): void {
  expect(emulator.raw).not.toContain(SYNCHRONISED);
  expect(emulator.raw).not.toContain(HIDE_CURSOR);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what is looked for
  expect(emulator.raw.replaceAll(/\u001b\[[\d;]*m/g, '')).not.toMatch(/\u001b/);
}
