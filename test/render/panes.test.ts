import { describe, expect, test } from 'vitest';
import { type Panes, panesOf } from '../../src/render/panes.js';
import { call, exchangeOf, resultArrives } from '../events/build.js';
import { SEED_RESULTS } from '../protocol/seed-messages.js';

const BOTH = new Set(['diff', 'text']);

function panesOfResult(fields: object, supports: ReadonlySet<string> = BOTH): Panes {
  const panes = panesOf(exchangeOf(call(), resultArrives(fields)), supports);
  if (!panes) throw new Error('the call is settled');
  return panes;
}

describe('RT-DISPLAY: the human sees the first segment that can be shown', () => {
  const diff: Record<string, unknown> = JSON.parse(SEED_RESULTS['a diff display with text fallback'] ?? '{}');

  test("seed 000's diff, with its warning about the counts", () => {
    const { human, choice, warnings } = panesOfResult(diff);
    expect(human).toMatchObject({ about: 'display_as[0] diff (the first segment)', notes: [] });
    expect(human.drawing).toMatchObject({ kind: 'diff', path: 'src/main.rs' });
    expect(choice.chosen).toMatchObject({ index: 0, type: 'diff' });
    expect(warnings).toEqual([expect.objectContaining({ id: 'TOOL-DIFF' })]);
  });

  test('a weaker client gets the text, and is reported what was passed over', () => {
    const { human } = panesOfResult(diff, new Set(['text']));
    expect(human).toEqual({
      title: 'human',
      about: 'display_as[1] text (the first that can be displayed)',
      notes: ['skipped display_as[0] diff: not supported by this client (--supports text)'],
      drawing: { kind: 'text', text: 'edit_file src/main.rs — 1 insertion' },
    });
  });

  test.each([
    [{ display_as: undefined }, 'text (no display_as)', 0],
    [{ display_as: [] }, 'text (display_as is empty)', 0],
    [{ display_as: [{ type: 'hologram', content: 1 }] }, 'text (no segment of display_as can be shown)', 1],
  ])('without one it is the text: %j', (fields, about, skipped) => {
    const { human } = panesOfResult({ text: 'done', ...fields });
    expect(human).toMatchObject({ about, drawing: { kind: 'text', text: 'done' } });
    expect(human.notes).toHaveLength(skipped);
  });
});

describe('RT-TEXT: what the LLM gets', () => {
  test('does not depend on the display', () => {
    const display_as = [{ type: 'text', content: 'something else' }];
    expect(panesOfResult({ text: 'all of it', display_as }).llm).toEqual({
      title: 'llm',
      about: 'text, 9 bytes',
      notes: [],
      drawing: { kind: 'text', text: 'all of it' },
    });
  });

  test('JSON is indented for the eye only, and that is said', () => {
    const { llm } = panesOfResult({ text: '{"count":1}' });
    expect(llm).toMatchObject({ about: 'text, 11 bytes', notes: ['pretty-printed'] });
    expect(llm.drawing).toEqual({ kind: 'text', text: '{\n  "count": 1\n}' });
  });

  test('row 18: JSON as deep as no one means it is shown as it is', () => {
    const text = '['.repeat(100_000) + ']'.repeat(100_000);
    expect(panesOfResult({ text }).llm.drawing).toEqual({ kind: 'text', text });
  });
});

test.each([
  ['a\u202eb', '1 control or invisible character shown'],
  ['\u0000\u0001\ud800', '3 control or invisible characters shown'],
])('RT-SANITIZE, row 24: %j says that something hidden is shown', (text, note) => {
  const { human, llm } = panesOfResult({ text, display_as: [{ type: 'text', content: text }] });
  expect(llm.notes).toEqual([note]);
  expect(human.notes).toEqual([note]);
});
