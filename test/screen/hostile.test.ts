import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type OwnTool, startTool } from '../e2e/support/own-tool.js';
import { type Peer, startPeer } from '../e2e/support/peers.js';
import { common } from './support/cell.js';
import { display, resultWith } from './support/results.js';
import { openHere, openStepsHere, type ScreenHere } from './support/screen-here.js';

const ESC = '\u001b';
const HOSTILE = [
  `${ESC}]0;owned\u0007`,
  `${ESC}]52;c;b3duZWQ=\u0007`,
  `${ESC}]8;;https://evil.example${ESC}\\link`,
  `${ESC}[2J${ESC}[3J${ESC}[1;1H`,
  `${ESC}c`,
  '\rover\b\b\b\u0007',
  '\u009d0;owned\u009c\u009b31m',
  '\u202eoverride\u2066\u200b',
].join(' ');
/** As the terminal must show it. */
const HARMLESS = '␛]0;owned␇ ␛]52;c;b3duZWQ=␇';

let odd: Peer;
let own: OwnTool;

beforeAll(async () => {
  [odd, own] = await Promise.all([
    startPeer('odd'),
    startTool({
      text: resultWith({ text: HOSTILE }),
      json: resultWith({ text: JSON.stringify({ [HOSTILE]: HOSTILE }) }),
      segment_type: resultWith({
        text: 'harmless',
        display_as: [{ type: HOSTILE, content: HOSTILE }, display.text(HOSTILE)],
      }),
      bad_diff: resultWith({ text: 'harmless', display_as: [display.diff(HOSTILE, HOSTILE)] }),
      section: resultWith({
        text: 'harmless',
        display_as: [
          display.diff('a', `--- a\n+++ a\n@@ -1 +1 @@ ${HOSTILE.replaceAll('\r', '')}\n-a\n+b\n`),
        ],
      }),
      code: resultWith({
        text: 'harmless',
        display_as: [
          display.diff(
            'a.ts',
            `--- a.ts\n+++ a.ts\n@@ -1 +1 @@\n-let a = "${HOSTILE}";\n+let b = "${HOSTILE}";\n`,
          ),
        ],
      }),
      refusal: { status: 400, body: HOSTILE },
      prompt: {
        callbacks: ({ id, group_id }) => [
          JSON.stringify({
            type: 'user_choice',
            group_id,
            id,
            prompt: HOSTILE,
            choices: [HOSTILE, 'b'],
            default: 0,
            response_url: `${own.url}/choice`,
          }),
        ],
      },
    }),
  ]);
});

afterAll(() => Promise.all([odd.stop(), own[Symbol.asyncDispose]()]));

describe.concurrent('threats, row 24: foreign text on the screen is made visible and has no effect', () => {
  const ANSWERS = [
    ['text', 0, HARMLESS],
    ['json', 0, '<U+202E>override'], // escaped in part
    ['segment_type', 0, HARMLESS],
    ['bad_diff', 0, HARMLESS],
    ['section', 0, HARMLESS],
    ['code', 0, HARMLESS],
    ['refusal', 4, HARMLESS],
  ] as const;

  test('in every part of an answer', async () => {
    const calls = ANSWERS.flatMap(([operation]) => [['invoke', own.url, operation], 'status $?']);
    await using screen = openStepsHere(['above', ...calls], { columns: 140, rows: 50 });
    await screen.ended;
    expectUnharmed(screen);
    const printed = screen.emulator.history().split(/^status (\d)$/m);
    for (const [index, [operation, status, shown]] of ANSWERS.entries()) {
      expect([operation, unwrappedText(printed[2 * index] ?? '')]).toEqual([
        operation,
        expect.stringContaining(unwrappedText(shown)),
      ]);
      expect(printed[2 * index + 1]).toBe(String(status));
    }
  });

  test.each([
    ['ui', '⏎ choose'],
    ['plain', 'Your choice'],
  ])('in a question and its choices, with -o %s', async (output, asked) => {
    const steps = ['above', ['invoke', own.url, 'prompt', '-o', output], 'status $?'];
    await using screen = openStepsHere(steps, { columns: 140, rows: 50 });
    await screen.shows(asked);
    expect(unwrapped(screen)).toContain(unwrappedText(HARMLESS));
    screen.type('\x03');
    expect(await screen.ended).toBe(130);
    expectUnharmed(screen);
    expect(screen.emulator.history()).toContain('status 130');
  });

  test('in every part of a result: path, patch, file names, rows, text', async () => {
    const steps = ['above', ['invoke', odd.url, 'hostile_text']];
    await using screen = openStepsHere(steps, { columns: 200, rows: 60 });
    expect(await screen.ended).toBe(0);
    expectUnharmed(screen);
    for (const place of ['text', 'context', 'old', 'new'])
      expect(unwrapped(screen)).toContain(unwrappedText(`${place} ␛]0;owned title␇`));
    expect(screen.text()).toMatch(/\d+ control or invisible characters shown/);
  });

  test('in plain mode', async () => {
    await using screen = openHere(['invoke', own.url, 'text', '-o', 'plain']);
    expect(await screen.ended).toBe(0);
    expect(screen.emulator.mischief).toEqual({ commands: [], titles: [], bells: 0 });
    expect(unwrapped(screen)).toContain(unwrappedText(HARMLESS));
  });

  test('in the texts of a toolset', async () => {
    await using tool = await startTool({ [HOSTILE]: {} });
    await using screen = openHere(['toolset', tool.url]);
    expect(await screen.ended).toBe(2);
    expect(screen.emulator.mischief).toEqual({ commands: [], titles: [], bells: 0 });
  });

  test('in what the user typed: an unknown operation', async () => {
    await using screen = openHere(['invoke', own.url, HOSTILE]);
    expect(await screen.ended).toBe(2);
    expect(screen.emulator.mischief).toEqual({ commands: [], titles: [], bells: 0 });
    expect(unwrapped(screen)).toContain(unwrappedText(HARMLESS));
  });

  test('visible forms of control characters are inverse', async () => {
    await using screen = openHere(['invoke', own.url, 'text'], { columns: 160 });
    expect(await screen.ended).toBe(0);
    expect(common(screen.emulator.cellsOf('␛'), 'inverse')).toBe(true);
    expect(common(screen.emulator.cellsOf('␇'), 'inverse')).toBe(true);
    expect(common(screen.emulator.cellsOf('<U+009D>'), 'inverse')).toBe(true);
    expect(common(screen.emulator.cellsOf('0;owned'), 'inverse')).toBe(false);
  });
});

function expectUnharmed({ emulator }: ScreenHere): void {
  expect(emulator.mischief).toEqual({ commands: [], titles: [], bells: 0 });
  expect(emulator.raw).not.toContain(`${ESC}[3J`);
  expect(emulator.raw).not.toContain(`${ESC}[2J`);
  expect(emulator.isCursorVisible).toBe(true);
  expect(emulator.history().startsWith('above\n')).toBe(true);
}

/** Where rows are wrapped depends on what stands before; what they say does not. */
function unwrapped({ emulator }: ScreenHere): string {
  return unwrappedText(emulator.history());
}

function unwrappedText(text: string): string {
  return text.replaceAll(/\s/g, '');
}
