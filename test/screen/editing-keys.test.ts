import { describe, expect, test } from 'vitest';
import { openProgram, type Screen } from './support/screen.js';

const [CTRL_A, CTRL_E, CTRL_K, CTRL_O, CTRL_U, CTRL_W] = [
  '\u0001',
  '\u0005',
  '\u000b',
  '\u000f',
  '\u0015',
  '\u0017',
];
const [HOME, END, DELETE, BACKSPACE, ESC] = ['\u001b[H', '\u001b[F', '\u001b[3~', '\u007f', '\u001b'];

/** What is typed after `one two`, and the text then. */
const KEYS: readonly (readonly [keys: string, text: string])[] = [
  [BACKSPACE, 'one tw'],
  [`${HOME}${DELETE}`, 'ne two'],
  [`${HOME}X${END}Y`, 'Xone twoY'],
  [`${CTRL_A}X${CTRL_E}Y`, 'Xone twoY'],
  [`${CTRL_A}${CTRL_K}Z`, 'Z'],
  [`${CTRL_U}Z`, 'Z'],
  [CTRL_W, 'one'],
  [`${ESC}bX`, 'one Xtwo'],
  [`${ESC}[1;5DX${ESC}[1;5CY`, 'one XtwoY'],
  [`${ESC}[200~ and${ESC}[201~ three`, 'one two and three'],
];

/** An unknown sequence ends no program and types nothing. */
const UNKNOWN = `${ESC}[1;5G${ESC}[25;5~`;

async function expectEdits(screen: Screen, rowOf: (text: string) => RegExp): Promise<void> {
  for (const [keys, text] of KEYS) {
    screen.type(`${CTRL_E}${CTRL_U}one two`);
    await screen.shows(rowOf('one two'));
    screen.type(UNKNOWN + keys);
    await screen.shows(rowOf(text));
  }
}

describe.concurrent('keys that edit a text, on a real terminal', () => {
  test('in a field of a form, and in its JSON', async () => {
    await using screen = openProgram(['invoke', '-i', '--demo', 'edit_file']);
    await screen.shows('[Form edit_file]');
    await expectEdits(screen, text => new RegExp(`^❯ path\\* +${text} +string`, 'm'));
    screen.type(CTRL_O);
    await screen.shows('As JSON');
    screen.type(`${ESC}[B${CTRL_E}`);
    await expectEdits(screen, text => new RegExp(`^${text} *$`, 'm'));
    expect(screen.emulator.isAlternate).toBe(true);
  });

  test('in a prompt', async () => {
    await using screen = openProgram(['invoke', '-i', '--demo']);
    await screen.shows('fill in');
    screen.type('u');
    await screen.shows('Tool server');
    await expectEdits(screen, text => new RegExp(`demo\\): ${text} *$`, 'm'));
  });
});
