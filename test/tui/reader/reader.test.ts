import { describe, expect, test } from 'vitest';
import { quote, say } from '../../../src/render/line.js';
import { createReader, type Readable } from '../../../src/tui/reader/screen.js';
import { linesDocument } from '../../../src/tui/reading/document.js';
import { onePart, panePart, type Sheet } from '../../../src/tui/reading/parts.js';
import { fakeClock } from '../../support/fake-clock.js';
import { drawnList } from '../drawn.js';
import { diffOf } from '../texts.js';

const SIZE = { columns: 80, rows: 20 };

const text = (rows: number): Sheet =>
  onePart(
    [],
    Array.from({ length: rows }, (_, index) => quote(`row ${index + 1}`)),
  );

function open(readable: Partial<Readable> = {}) {
  const asked: string[] = [];
  const reader = createReader({
    name: 'result.json',
    heading: [],
    sheet: text(100),
    isUnfolded: false,
    quit: () => void asked.push('quit'),
    copy: copied => {
      asked.push(`copy ${copied.slice(0, 11)}`);
      return { text: 'copied', isBad: false };
    },
    clock: fakeClock(),
    level: 0,
    ...readable,
  });
  reader.store.dispatch({ type: 'resized', size: SIZE });
  return {
    asked,
    shows(size = SIZE) {
      return drawnList(reader, size).join('\n');
    },
    press(...names: readonly string[]) {
      for (const name of names) reader.press({ name, text: '' });
    },
    type: (typed: string) => reader.press({ name: '', text: typed }),
  };
}

test('shows the name, the heading and the text', () => {
  const shown = open({ heading: [[say('tool_result of call c')]] }).shows();
  expect(shown).toMatch(/^tool_result of call c/);
  expect(shown).toContain('result.json');
  expect(shown).toMatch(/row 1\nrow 2\n/);
  expect(shown).toContain('q quit');
});

describe('keys', () => {
  test.each([
    [['j', 'down', 'k'], 2],
    [['wheelup', 'j'], 2],
    [['home', 'j', 'g'], 1],
  ])('%j scroll to row %i', (keys, row) => {
    const reader = open();
    reader.press(...keys);
    expect(reader.shows()).toMatch(new RegExp(`\\nrow ${row}\\n`));
    expect(reader.shows()).not.toMatch(new RegExp(`\\nrow ${row - 1}\\n`));
  });

  test('G shows the last row', () => {
    const reader = open();
    reader.press('G');
    expect(reader.shows()).toMatch(/\nrow 100\n/);
  });

  test('/ goes to the first match', () => {
    const reader = open();
    reader.press('/');
    reader.type('row 77');
    reader.press('enter');
    expect(reader.shows()).toMatch(/\nrow 77\n/);
  });

  test.each(['q', 'escape', 'ctrl+c'])('%s quits', key => {
    const reader = open();
    reader.press(key);
    expect(reader.asked).toEqual(['quit']);
  });

  test('? shows the keys, and Esc leaves them', () => {
    const reader = open();
    reader.press('?');
    expect(reader.shows({ columns: 80, rows: 50 })).toMatch(/READING\n.*a line up/);
    reader.press('escape');
    expect(reader.asked).toEqual([]);
    expect(reader.shows()).toContain('row 1');
  });

  test('Ctrl-Y copies the text', () => {
    const reader = open();
    reader.press('ctrl+y');
    expect(reader.asked).toEqual(['copy row 1\nrow 2']);
  });
});

test('Tab goes around the panes, and m shows one of them', () => {
  const part = (name: string) => ({
    title: [say(name)],
    document: () => linesDocument([quote(`${name} text`)]),
  });
  const reader = open({ sheet: [part('HUMAN'), part('LLM')] });
  expect(reader.shows()).toContain('❯ HUMAN');
  reader.press('tab');
  expect(reader.shows()).toContain('❯ LLM');
  reader.press('m');
  expect(reader.shows()).not.toContain('HUMAN text');
  reader.press('m', 'tab');
  expect(reader.shows()).toContain('❯ HUMAN');
  reader.press('shift+tab');
  expect(reader.shows()).toContain('❯ LLM');
});

test('a diff begins unfolded if that was asked for', () => {
  const rows = Array.from({ length: 40 }, (_, index) => ` same ${index}\n`);
  const diff = diffOf(`--- a\n+++ b\n@@ -1,41 +1,41 @@\n${rows.join('')}-old\n+new\n`);
  const drawing = { kind: 'diff', path: 'b', diff, raw: '' } as const;
  const sheet = [panePart({ title: 'human', about: '', notes: [], drawing }, [])];
  expect(open({ sheet }).shows()).not.toContain('same 4\n');
  expect(open({ sheet, isUnfolded: true }).shows()).toMatch(/same 4\n/);
});
