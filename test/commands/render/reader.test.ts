import { expect, test } from 'vitest';
import { readableOf } from '../../../src/commands/render/reader.js';
import type { Section } from '../../../src/commands/render/saved.js';
import { type Line, lineText, say } from '../../../src/render/line.js';
import type { Pane } from '../../../src/render/panes.js';
import type { Document } from '../../../src/tui/reading/document.js';

const pane = (title: Pane['title'], text: string): Pane => ({
  title,
  about: 'text',
  notes: [],
  drawing: { kind: 'text', text },
});

const PANES = { human: pane('human', 'for the human'), llm: pane('llm', 'for the LLM') };

const lines = (...texts: readonly string[]): readonly Line[] => texts.map(text => [say(text)]);

const LOOK = { isSplit: false, isUnfolded: false, highlighter: null, showsBytes: false };

function read(...sections: readonly Section[]) {
  const { heading, sheet } = readableOf('a.json', sections);
  const textOf = (document: Document) =>
    Array.from({ length: document.length }, (_, index) => lineText(document.line(index)));
  return { heading: heading.map(lineText), parts: sheet.map(({ document }) => textOf(document(LOOK))) };
}

test('a result: its lines are the heading of the two panes', () => {
  expect(read(lines('tool_result of call c'), PANES, lines('a warning'))).toEqual({
    heading: ['tool_result of call c', 'a warning'],
    parts: [['for the human'], ['for the LLM']],
  });
});

const BOTH = ['HUMAN text', 'for the human', '', 'LLM text', 'for the LLM'];

test.each<[string, readonly Section[], readonly string[]]>([
  ['two results', [lines('one'), PANES, lines('two'), PANES], ['one', '', ...BOTH, '', 'two', '', ...BOTH]],
  [
    'many lines',
    [lines('1', '2', '3', '4', '5', '6', '7'), PANES],
    ['1', '2', '3', '4', '5', '6', '7', '', ...BOTH],
  ],
  ['lines alone', [lines('name: a'), lines(), lines('name: b')], ['name: a', '', 'name: b']],
  ['a view', [pane('view', 'shown')], ['VIEW text', 'shown']],
])('%s: one text, in order, with a blank line between', (_, sections, expected) => {
  expect(read(...sections)).toEqual({ heading: [], parts: [expected] });
});
