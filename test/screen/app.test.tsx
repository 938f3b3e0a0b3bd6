import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import { render } from 'ink';
import stringWidth from 'string-width';
import { describe, expect, test } from 'vitest';
import { createTheme, paneLayout } from '../../src/render/terminal/theme.js';
import type { Frame } from '../../src/tui/live/model.js';
import { App, frameOf } from '../../src/tui/live/reporter.js';
import { createStore } from '../../src/tui/terminal.js';
import { anyCodePoint } from '../support/characters.js';
import { Emulator, type Size } from './support/emulator.js';
import { fakeTerminal } from './support/fake-terminal.js';
import { askingScene, type Contents, question, settledScene } from './support/scenes.js';

const THEME = createTheme(2);
const anySize = fc.record({
  columns: fc.integer({ min: 40, max: 220 }),
  rows: fc.integer({ min: 8, max: 70 }),
});
/** Wide characters, marks without width, joined emoji, controls, lines without end. */
const anyText = fc
  .array(
    fc.oneof(
      fc.string({ unit: anyCodePoint, maxLength: 60 }),
      fc.constantFrom('\n', '\t', '漢字', '👩‍👩‍👧', 'e\u0301', '\u202e', '\u001b[2J', 'x'.repeat(300)),
    ),
    { maxLength: 60 },
  )
  .map(parts => parts.join(''));

describe('a frame', () => {
  test('is never wider than the terminal and always one row lower, whatever the tool sends', () => {
    fc.assert(
      fc.property(anyText, anyText, anySize, (human, llm, size) => {
        const frame = frameOf(settledScene(human, llm), size, THEME);
        if (!frame.panes) throw new Error('there are no panes');
        expectFits(frame, size);
        const { human: left, llm: right, width } = frame.panes;
        for (const row of [...left, ...right]) expect(stringWidth(row)).toBeLessThanOrEqual(width);
      }),
      { numRuns: 60 },
    );
  });

  test('the same while a tool asks, beside views; the choices are always visible', () => {
    const anyChoices = fc.array(anyText, { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(
        anyText,
        anyChoices,
        fc.array(anyText, { maxLength: 3 }),
        anySize,
        (prompt, labels, views, size) => {
          const frame = frameOf(askingScene(question(prompt, labels), views), size, THEME);
          expectFits(frame, size);
          expect(frame.picker.some(row => stripVTControlCharacters(row).startsWith('❯ '))).toBe(true);
          expect(frame.steps.at(-1)).toBe('subscribed: 3 events');
        },
      ),
      { numRuns: 60 },
    );
  });

  test('shows only what fits if the terminal is very small', () => {
    const asking = { ...settledScene('seen\nseen', 'sent'), ...askingScene(question('Which?', ['a', 'b'])) };
    for (let rows = 1; rows < 12; rows++)
      expectFits(frameOf(asking, { columns: 20, rows }, THEME), { columns: 20, rows });
  });
});

describe('the live view in a terminal', () => {
  const large = { columns: 160, rows: 40 };

  test('keeps one frame on the screen through every size from 40 × 8, and scrolls nothing away', async () => {
    await using view = await draw(settledScene('seen\n'.repeat(50_000), 'sent\n'.repeat(90)), large);
    for (let columns = 160; columns >= 40; columns -= 30)
      for (const rows of [40, 8]) await view.resize({ columns, rows });
    await view.resize(large);
    expect(view.emulator.text().match(/HUMAN/g)).toHaveLength(1);
    expect(view.emulator.text().match(/LLM/g)).toHaveLength(1);
    expect(view.emulator.raw).not.toContain('\u001b[3J');
  });
});

interface View extends AsyncDisposable {
  readonly emulator: Emulator;
  resize(size: Size): Promise<void>;
}

/** The component alone, drawn by Ink into an emulator: no process, no tool. */
async function draw(scene: Contents, firstSize: Size): Promise<View> {
  let size = firstSize;
  const emulator = new Emulator(size);
  const terminal = fakeTerminal(emulator, size);
  const store = createStore({ frame: frameOf(scene, size, THEME), takesKeys: false });
  const { unmount, waitUntilExit } = render(<App store={store} onKey={() => {}} />, {
    stdout: terminal.stream,
    patchConsole: false,
    exitOnCtrlC: false,
  });
  const drawn = () => {
    const frame = shown(scene, size);
    return emulator.waitFor(`it shows\n${frame}`, () => emulator.text().endsWith(frame));
  };
  await drawn();
  return {
    emulator,
    async resize(next) {
      size = next;
      emulator.resize(size);
      store.set({ frame: frameOf(scene, size, THEME) });
      terminal.resize(size);
      await drawn();
    },
    async [Symbol.asyncDispose]() {
      unmount();
      await waitUntilExit();
    },
  };
}

/** A frame as text, laid out without Ink. */
function shown(scene: Contents, size: Size): string {
  return rowsOf(frameOf(scene, size, createTheme(0)), size)
    .map(row => row.trimEnd())
    .join('\n');
}

function rowsOf({ steps, views, panes, picker }: Frame, { columns }: Size): readonly string[] {
  const { human = [], llm = [], isSideBySide = false } = panes ?? {};
  const both = isSideBySide ? [paneLayout(columns).beside(human, llm)] : [human, llm];
  return [steps, views, ...both, picker]
    .filter(block => block.length > 0)
    .flatMap((block, index) => (index === 0 ? block : ['', ...block]));
}

function expectFits(frame: Frame, size: Size): void {
  expect(rowsOf(frame, size).length).toBeLessThanOrEqual(size.rows - 1);
  for (const row of [...frame.steps, ...frame.views, ...frame.picker])
    expect(stringWidth(row)).toBeLessThanOrEqual(size.columns);
}
