import { Text } from 'ink';
import { describe, expect, test } from 'vitest';
import { say } from '../../../src/render/line.js';
import { Covered } from '../../../src/tui/components/Covered.js';
import { Screen } from '../../../src/tui/components/Screen.js';
import { pickerOf } from '../../../src/tui/picker.js';
import { layOutScreen, QUIT_HINTS } from '../../../src/tui/screen/layout.js';
import { EMPTY_SCREEN, type Overlay, type ScreenState, withMessage } from '../../../src/tui/screen/state.js';
import { question } from '../../screen/support/scenes.js';
import { rowsOf } from '../drawn.js';

const TABLES = [{ title: 'Tools', keys: [{ label: 'x', does: 'remove' }] }];

/** The screen in 40 columns. */
function screenOf({ overlay = null as Overlay<string> | null, rows = 10, message = '' }): readonly string[] {
  const empty: ScreenState<string> = { ...EMPTY_SCREEN, size: { columns: 40, rows }, overlay };
  const state = message === '' ? empty : withMessage(empty, message, 10);
  const layout = layOutScreen(state, () => [[say('head')]], 0);
  return rowsOf(
    <Screen state={state} layout={layout} hints={{ hints: [], ends: QUIT_HINTS }}>
      <Covered overlay={overlay} layout={layout} helpTables={() => TABLES}>
        <Text>body</Text>
      </Covered>
    </Screen>,
    40,
  );
}

describe('a screen', () => {
  test('has its head first, its keys last, and is one row lower than the terminal', () => {
    expect(screenOf({ rows: 6 })).toEqual(['head', 'body', '', '', '? keys   q quit']);
  });

  test('has a notice above the keys', () => {
    expect(screenOf({ rows: 5, message: 'copied' })).toEqual(['head', 'body', 'copied', '? keys   q quit']);
  });

  test('wraps a long notice if it is high enough; otherwise it shows the start', () => {
    const message = `long ${'word '.repeat(12)}`;
    expect(screenOf({ message, rows: 17 }).slice(-3, -1)).toEqual([
      'long word word word word word word word',
      'word word word word word',
    ]);
    expect(screenOf({ message, rows: 16 }).at(-3)).toBe('');
  });

  test('has a question below the body, which stays visible', () => {
    const picker = pickerOf(question('Where to?', ['staging', 'production']));
    const overlay = { kind: 'question', purpose: 'answer', picker, escapeHint: 'later' } as const;
    expect(screenOf({ overlay, rows: 12 })).toEqual([
      'head',
      'body',
      '',
      '',
      '',
      '',
      '─'.repeat(40),
      'Where to?',
      '❯ 0 staging (default)',
      '  1 production',
      '↑↓ select   ⏎ choose   Esc later',
    ]);
  });
});

describe('the body of a screen is covered', () => {
  test('by the help', () => {
    const overlay = { kind: 'help', scroll: 0, filter: null } as const;
    expect(screenOf({ overlay, rows: 6 }).slice(0, 3)).toEqual(['head', 'TOOLS', '  x  remove']);
    expect(screenOf({ overlay, rows: 20 }).slice(0, 3)).toEqual(['head', '', 'TOOLS']);
  });

  test('by a page, which scrolls below its title', () => {
    const page = { title: [say('copied')], text: 'one\ntwo\n'.repeat(9), isCommand: true };
    const rows = screenOf({ overlay: { kind: 'page', scroll: 1, page } });
    expect(rows.slice(0, 5)).toEqual(['head', 'copied', '', 'two', 'one']);
    expect(rows.at(-2)).toMatch(/^… \d+ more rows$/);
    expect(rows).not.toContain('body');
  });
});
