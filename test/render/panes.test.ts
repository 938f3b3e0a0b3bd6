import { describe, expect, test } from 'vitest';
import { readMcpAnswer } from '../../src/events/answer.js';
import { type Panes, panesOf, viewPane } from '../../src/render/panes.js';
import { call, exchangeOf, resultArrives } from '../events/build.js';
import { SEED_RESULTS } from '../protocol/seed-messages.js';

const BOTH = new Set(['diff', 'text']);

function panesOfResult(fields: object, supports: ReadonlySet<string> = BOTH): Panes {
  const panes = panesOf(exchangeOf(call(), resultArrives(fields)), supports);
  if (!panes) throw new Error('the call is settled');
  return panes;
}

describe('RT-DISPLAY: the human sees the first supported segment', () => {
  const diff: Record<string, unknown> = JSON.parse(SEED_RESULTS['a diff display with text fallback'] ?? '{}');

  test('shows the diff of seed 000 and warns of its counts', () => {
    const { human, choice, warnings } = panesOfResult(diff);
    expect(human).toMatchObject({ about: 'display_as[0] diff (the first segment)', notes: [] });
    expect(human.drawing).toMatchObject({ kind: 'diff', path: 'src/main.rs' });
    expect(choice.chosen).toMatchObject({ index: 0, type: 'diff' });
    expect(warnings).toEqual([expect.objectContaining({ id: 'TOOL-DIFF' })]);
  });

  test('shows the text in a client without diffs, and lists the skipped segment', () => {
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
  ])('shows the result text without a usable segment: %j', (fields, about, skipped) => {
    const { human } = panesOfResult({ text: 'done', ...fields });
    expect(human).toMatchObject({ about, drawing: { kind: 'text', text: 'done' } });
    expect(human.notes).toHaveLength(skipped);
  });
});

describe("RT-TEXT: the LLM's pane", () => {
  test('does not depend on display_as', () => {
    const display_as = [{ type: 'text', content: 'something else' }];
    expect(panesOfResult({ text: 'all of it', display_as }).llm).toEqual({
      title: 'llm',
      about: 'text, 9 bytes',
      notes: [],
      drawing: { kind: 'text', text: 'all of it' },
    });
  });

  test('pretty-prints JSON and adds a note', () => {
    const { llm } = panesOfResult({ text: '{"count":1}' });
    expect(llm).toMatchObject({ about: 'text, 11 bytes', notes: ['pretty-printed'] });
    expect(llm.drawing).toEqual({ kind: 'text', text: '{\n  "count": 1\n}' });
  });

  test('row 18: shows very deeply nested JSON unchanged', () => {
    const text = '['.repeat(100_000) + ']'.repeat(100_000);
    expect(panesOfResult({ text }).llm.drawing).toEqual({ kind: 'text', text });
  });
});

test.each([
  ['a\u202eb', '1 control or invisible character shown'],
  ['\u0000\u0001\ud800', '3 control or invisible characters shown'],
])('RT-SANITIZE, row 24: %j adds a note about hidden characters', (text, note) => {
  const { human, llm } = panesOfResult({ text, display_as: [{ type: 'text', content: text }] });
  expect(llm.notes).toEqual([note]);
  expect(human.notes).toEqual([note]);
});

describe('MCP', () => {
  const panes = (value: unknown) => {
    const settled = { by: 'answer', ...readMcpAnswer({ ok: true, value, notes: [] }) } as const;
    return panesOf({ settled }, BOTH) ?? expect.unreachable();
  };

  const text = (words: string, audience?: string[]) => ({
    type: 'text',
    text: words,
    ...(audience && { annotations: { audience } }),
  });

  test('the LLM gets the text of an embedded resource; the human sees its URI as well', () => {
    const resource = { uri: 'demo://text/1', mimeType: 'text/plain', text: 'the\ncontents' };
    const binary = { uri: 'demo://blob/1', mimeType: 'application/gzip', blob: 'AAAA' };
    const { human, llm } = panes({
      content: [text('see'), { type: 'resource', resource }, { type: 'resource', resource: binary }],
    });
    const blob = '[resource "demo://blob/1" "application/gzip" 3 bytes]';
    expect(llm.drawing).toEqual({ kind: 'text', text: `see\nthe\ncontents\n${blob}` });
    expect(human.drawing).toEqual({
      kind: 'text',
      text: `see\n[resource "demo://text/1" "text/plain"]\nthe\ncontents\n${blob}`,
    });
  });

  test('the human does not see blocks for the assistant only; the LLM gets all', () => {
    const { human, llm, choice } = panes({
      content: [text('all', []), text('model', ['assistant']), text('both', ['user', 'assistant'])],
    });
    expect(human.drawing).toMatchObject({ text: 'all\nboth' });
    expect(human.notes).toEqual(['skipped content[1] text: its audience is the assistant only']);
    expect(choice.skipped).toMatchObject([{ index: 1 }]);
    expect(llm.drawing).toMatchObject({ text: 'all\nmodel\nboth' });
  });

  test('cuts very large structured content', () => {
    const { human } = panes({ structuredContent: { text: 'x'.repeat(300_000) }, isError: false });
    expect(human.drawing).toMatchObject({ text: expect.stringMatching(/… \d+ more characters$/) });
  });
});

describe('views', () => {
  const view = (content: Readonly<Record<string, unknown>>, updates = 1) =>
    viewPane({ type: 'diff', content, updates });
  const PATCH = '--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-old\n+new\n';

  test('RT-VIEW: a view has its own pane with its type', () => {
    expect(view({ patch: PATCH })).toMatchObject({
      title: 'view',
      about: expect.stringMatching(/^diff, /),
      notes: [],
      drawing: { kind: 'diff' },
    });
  });

  test('shows invalid content unchanged, with the reason', () => {
    const { notes, drawing } = view({ patch: 7 });
    expect(notes).toEqual([expect.stringContaining('malformed diff')]);
    expect(drawing).toEqual({ kind: 'text', text: '{\n  "patch": 7\n}' });
  });

  test('threats, row 24: reports invisible characters', () => {
    expect(view({ patch: 'n\u202eo diff' }).notes).toEqual([
      expect.stringContaining('malformed diff'),
      '1 control or invisible character shown',
    ]);
  });
});
