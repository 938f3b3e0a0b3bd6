import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type OwnTool, startTool } from '../e2e/support/own-tool.js';
import { type Cell, CYAN, common, GREEN, MAGENTA, RED } from './support/cell.js';
import { display, resultWith } from './support/results.js';
import { openHere } from './support/screen-here.js';

const PATCH = `\
--- a/greet.py
+++ b/greet.py
@@ -8,4 +8,4 @@ def greet():
 return before
-say("hello", name)
+say("goodbye", name)
 after
\\ No newline at end of file
`;
/** Of the 256 colours. */
const DARK = { added: 22, removed: 52 };
const BRIGHT = { added: 28, removed: 124 };

let own: OwnTool;

beforeAll(async () => {
  const edit = resultWith({ text: 'edited', display_as: [display.diff('greet.py', PATCH)] });
  const hidden = PATCH.replace('goodbye', 'good\u202ebye');
  const trojan = resultWith({ text: 'edited', display_as: [display.diff('greet.py', hidden)] });
  own = await startTool({ edit, trojan });
});

afterAll(() => own[Symbol.asyncDispose]());

describe.concurrent('a diff on the screen', () => {
  test('shows old and new side by side if its pane has 120 columns', async () => {
    await using screen = openHere(['invoke', own.url, 'edit'], { columns: 243 });
    expect(await screen.ended).toBe(0);
    expect(screen.emulator.rows()).toContainEqual(
      expect.stringMatching(/^ 9 - say\("hello", name\) +│ {2}9 \+ say\("goodbye", name\)$/),
    );
  });

  test('is coloured: rows red and green, line numbers dim, hunk headers cyan', async () => {
    await using screen = openHere(['invoke', own.url, 'edit'], { columns: 80 });
    expect(await screen.ended).toBe(0);
    const { emulator } = screen;
    expect(common(emulator.cellsOf('say("').slice(0, 5), 'background')).toBe(DARK.removed);
    expect(common(emulator.cellsOf('", name)'), 'background')).toBe(DARK.removed);
    expect(common(emulator.cellsOf('@@ -8,3 +8,3 @@'), 'foreground')).toBe(CYAN);
    expect(common(emulator.cellsOf('10 10 '), 'dim')).toBe(true);
    expect(common(emulator.cellsOf('before'), 'background')).toBeNull();
  });

  test('marks only the changed word, on both sides', async () => {
    await using screen = openHere(['invoke', own.url, 'edit'], { columns: 80 });
    expect(await screen.ended).toBe(0);
    const { emulator } = screen;
    expect(common(emulator.cellsOf('hello'), 'background')).toBe(BRIGHT.removed);
    expect(common(emulator.cellsOf('goodbye'), 'background')).toBe(BRIGHT.added);
  });

  test('has syntax colours in all rows, and keeps its marks', async () => {
    await using screen = openHere(['invoke', own.url, 'edit'], { columns: 80 });
    expect(await screen.ended).toBe(0);
    const { emulator } = screen;
    expect(common(emulator.cellsOf('return'), 'foreground')).toBe(MAGENTA);
    const string = common(emulator.cellsOf('goodbye'), 'foreground');
    expect(string).not.toBe(common(emulator.cellsOf('name)'), 'foreground'));
    expect(common(emulator.cellsOf('"goodbye"'), 'foreground')).toBe(string);
  });

  test('with 16 colours: rows in red and green, changed words underlined', async () => {
    await using screen = openHere(['invoke', own.url, 'edit'], { columns: 80, env: { FORCE_COLOR: '1' } });
    expect(await screen.ended).toBe(0);
    const { emulator } = screen;
    expect(common(emulator.cellsOf('- say(').filter(isInk), 'foreground')).toBe(RED);
    expect(common(emulator.cellsOf('+ say(').filter(isInk), 'foreground')).toBe(GREEN);
    expect(common(emulator.cellsOf('goodbye'), 'underline')).toBe(true);
    expect(common(emulator.cellsOf('return before'), 'foreground')).toBeNull();
    expect(common(emulator.cellsOf('say("goodbye", name)'), 'background')).toBeNull();
  });

  test('says under its header that it contains hidden characters, and shows them', async () => {
    await using screen = openHere(['invoke', own.url, 'trojan'], { columns: 80 });
    expect(await screen.ended).toBe(0);
    const rows = screen.emulator.rows();
    expect(rows[rows.indexOf('greet.py +1 −1') + 1]).toBe('1 hidden character, shown as <U+202E>');
    expect(common(screen.emulator.cellsOf('good<U+202E>bye').slice(4, 12), 'inverse')).toBe(true);
  });
});

function isInk({ text }: Cell): boolean {
  return text !== ' ';
}
