import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type OwnTool, startTool } from '../e2e/support/own-tool.js';
import { type Peer, startPeer } from '../e2e/support/peers.js';
import type { Size } from './support/emulator.js';
import { display, resultWith } from './support/results.js';
import { openShell, type Screen } from './support/screen.js';
import { openHere, openStepsHere, type ScreenHere } from './support/screen-here.js';

const CLEAR_SCROLLBACK = '\u001b[3J';
/**
 * Rows of the old view that a terminal wrapped when it became narrower: no one can tell whether it did, and to erase too few
 * is better than to erase what stood there before.
 */
const MOST_LEFT_OVER = 3;
const WAITING = '… waiting for the result';
const BEFORE = Array.from({ length: 60 }, (_, index) => `before ${index + 1}`);
/** What stood in the terminal before, so that a loss of it would show. */
const PRELUDE = 'i=1; while [ $i -le 60 ]; do echo "before $i"; i=$((i+1)); done;';
/** What the same terminal goes on with. */
const POSTLUDE = 'echo "status $?"';

let plain: Peer;
let own: OwnTool;

beforeAll(async () => {
  const long = resultWith({
    text: rows('llm', 100),
    display_as: [display.text(`${rows('human', 100)}\n${'wide '.repeat(100)}`)],
  });
  [plain, own] = await Promise.all([startPeer('plain'), startTool({ long })]);
});

afterAll(() => Promise.all([plain.stop(), own[Symbol.asyncDispose]()]));

describe.concurrent('a frame', () => {
  test.each([
    [40, 8],
    [119, 24],
    [160, 12],
  ])(
    'fits into %i × %i: earlier output is scrolled up whole, and no row is lost or left behind',
    async (columns, height) => {
      const steps = [...BEFORE, ['invoke', own.url, 'long', '-q'], 'status $?'];
      await using screen = openStepsHere(steps, { columns, rows: height });
      expect(await screen.ended).toBe(0);
      expectIntact(screen);
      const lines = screen.emulator.history().split('\n').slice(BEFORE.length);
      expect(lines.length).toBeLessThanOrEqual(height);
      expect(lines.filter(row => row.startsWith('HUMAN'))).toHaveLength(1);
      expect(lines.join('\n')).toMatch(/… \d+ more lines/);
      expect(lines.at(-1)).toBe('status 0');
    },
  );
});

describe.concurrent('a terminal that is resized before the result', () => {
  test.each([
    ['wider', { columns: 60, rows: 30 }, { columns: 140, rows: 30 }, openHereBelow],
    ['lower', { columns: 100, rows: 30 }, { columns: 100, rows: 12 }, openHereBelow],
    ['narrower and lower', { columns: 160, rows: 40 }, { columns: 45, rows: 10 }, openHereBelow],
    ['narrower and lower, as a process', { columns: 160, rows: 40 }, { columns: 45, rows: 10 }, openBelow],
  ])('%s: the view is drawn for the new size, and earlier output is unchanged', async (_, from, to, open) => {
    await using screen = open(['invoke', plain.url, 'slow', 'ms=900'], from);
    await screen.shows(WAITING);
    screen.resize(to);
    expect(await screen.ended).toBe(0);
    expectIntact(screen);
    expect(occurrences(screen, 'HUMAN ')).toBe(1);
    expect(occurrences(screen, 'LLM ')).toBe(1);
    // A process may draw more frames for the old size before the signal arrives.
    if (open === openHereBelow) expect(leftOver(screen)).toBeLessThanOrEqual(MOST_LEFT_OVER);
    expect(occurrences(screen, WAITING)).toBe(0);
  });
});

describe.concurrent('a terminal that is resized after the result', () => {
  test('while the view is open: the panes move to where they fit', async () => {
    await using screen = openHere(['invoke', plain.url, 'edit_file', 'path=a.txt', '--linger', '1500ms'], {
      columns: 160,
      rows: 30,
    });
    await screen.shows('✓ result after');
    screen.resize({ columns: 80, rows: 30 });
    expect(await screen.ended).toBe(0);
    const shown = screen.emulator.rows();
    expect(shown).toContain('HUMAN display_as[0] diff (the first segment)');
    expect(shown).toContain('LLM text, 22 bytes');
  });

  test('after the program: no row would be torn by a narrower terminal', async () => {
    await using screen = openShell(
      `${PRELUDE} $TOOL invoke ${plain.url} edit_file path=a.txt; ${POSTLUDE}; read wait`,
      { columns: 160, rows: 30 },
    );
    await screen.shows('status 0');
    screen.resize({ columns: 60, rows: 20 });
    screen.type('\r');
    expect(await screen.ended).toBe(0);
    expectIntact(screen);
  });
});

/** In a shell, on a terminal that has something on it already. */
function openBelow(words: readonly string[], size: Size): Screen {
  return openShell(`${PRELUDE} $TOOL ${words.join(' ')}; ${POSTLUDE}`, size);
}

/** The same in this process. */
function openHereBelow(words: readonly string[], size: Size): ScreenHere {
  return openStepsHere([...BEFORE, words, 'status $?'], size);
}

function expectIntact({ emulator }: Pick<Screen, 'emulator'>): void {
  expect(emulator.raw).not.toContain(CLEAR_SCROLLBACK);
  expect(emulator.isAlternate).toBe(false);
  expect(emulator.history().split('\n').slice(0, BEFORE.length)).toEqual(BEFORE);
}

/** Rows between what stood there before and the view's last frame. */
function leftOver({ emulator }: Pick<Screen, 'emulator'>): number {
  const drawn = emulator.history().split('\n').slice(BEFORE.length);
  return Math.max(
    0,
    drawn.findLastIndex(row => row.includes('✓ discovered')),
  );
}

function occurrences({ emulator }: Pick<Screen, 'emulator'>, text: string): number {
  return emulator.history().split(text).length - 1;
}

function rows(name: string, count: number): string {
  return Array.from({ length: count }, (_, index) => `${name} ${index + 1}`).join('\n');
}
