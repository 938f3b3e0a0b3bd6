import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type OwnTool, startTool } from '../e2e/support/own-tool.js';
import { type Peer, startPeer } from '../e2e/support/peers.js';
import { type Cell, CYAN, common, GREEN, RED } from './support/cell.js';
import { display, resultWith } from './support/results.js';
import { openProgram } from './support/screen.js';

const PATCH = `\
--- a/greet.py
+++ b/greet.py
@@ -8,4 +8,4 @@ def greet():
 before
-say("hello", name)
+say("goodbye", name)
 after
\\ No newline at end of file
`;

let odd: Peer;
let own: OwnTool;

beforeAll(async () => {
  const edit = resultWith({ text: 'edited', display_as: [display.diff('greet.py', PATCH)] });
  [odd, own] = await Promise.all([startPeer('odd'), startTool({ edit })]);
});

afterAll(() => Promise.all([odd.stop(), own[Symbol.asyncDispose]()]));

describe.concurrent('a diff on the screen', () => {
  test('has both line numbers and a sign on every row', async () => {
    await using screen = openProgram(['invoke', own.url, 'edit'], { columns: 80 });
    expect(await screen.ended).toBe(0);
    const rows = screen.emulator.rows();
    const from = rows.findIndex(row => row.startsWith('greet.py'));
    expect(rows.slice(from, from + 7)).toEqual([
      'greet.py +1 −1',
      '@@ -8,3 +8,3 @@ def greet():',
      ' 8  8   before',
      ' 9    - say("hello", name)',
      '    9 + say("goodbye", name)',
      '10 10   after',
      '\\ No newline at end of file',
    ]);
  });

  test('has colours besides: red and green rows, dim numbers, a cyan hunk header', async () => {
    await using screen = openProgram(['invoke', own.url, 'edit'], { columns: 80 });
    expect(await screen.ended).toBe(0);
    const { emulator } = screen;
    expect(common(emulator.cellsOf('- say(').filter(isInk), 'foreground')).toBe(RED);
    expect(common(emulator.cellsOf('+ say(').filter(isInk), 'foreground')).toBe(GREEN);
    expect(common(emulator.cellsOf('@@ -8,3 +8,3 @@'), 'foreground')).toBe(CYAN);
    expect(common(emulator.cellsOf('10 10 '), 'dim')).toBe(true);
    expect(common(emulator.cellsOf('before'), 'foreground')).toBeNull();
  });

  test('marks the changed word alone, on both sides', async () => {
    await using screen = openProgram(['invoke', own.url, 'edit'], { columns: 80 });
    expect(await screen.ended).toBe(0);
    const { emulator } = screen;
    const [removed, added] = [emulator.cellsOf('hello'), emulator.cellsOf('goodbye')];
    expect(common(removed, 'background')).toBe(88);
    expect(common(added, 'background')).toBe(22);
    expect(common(emulator.cellsOf('say("'), 'background')).toBeNull();
    expect(common(emulator.cellsOf('", name)'), 'background')).toBeNull();
  });

  test('is drawn with a warning where the hunk header counts wrongly, as in the seed', async () => {
    await using screen = openProgram(['invoke', odd.url, 'seed_diff'], { columns: 110 });
    expect(await screen.ended).toBe(0);
    expect(screen.emulator.rows()).toContain('  2 +  println!("hello");');
    expect(screen.text()).toMatch(/^warning: .*count.* \[TOOL-DIFF\]$/m);
  });

  test('gives way to the next segment where it is none', async () => {
    await using screen = openProgram(['invoke', odd.url, 'bad_diff_then_text'], { columns: 120 });
    expect(await screen.ended).toBe(0);
    expect(screen.text()).toContain('shown instead of prose');
    expect(screen.text()).toMatch(/skipped display_as\[0\] diff: malformed diff/);
  });

  test('of two files shows both, each with its name', async () => {
    await using screen = openProgram(['invoke', odd.url, 'two_files_diff'], { columns: 80 });
    expect(await screen.ended).toBe(0);
    expect(screen.emulator.rows()).toContain('src/a.txt +1 −1');
    expect(screen.emulator.rows()).toContain('src/b.txt +1 −0');
  });
});

function isInk({ text }: Cell): boolean {
  return text !== ' ';
}
