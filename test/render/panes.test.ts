import { describe, expect, test } from 'vitest';
import { readMcpAnswer } from '../../src/events/answer.js';
import { type Panes, panesOf, panesOfMcp, viewPane } from '../../src/render/panes.js';
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

describe('of MCP', () => {
  const panes = (value: unknown) => panesOfMcp(readMcpAnswer({ ok: true, value, notes: [] }));

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

  test('the human is not shown what is for the assistant only, and the LLM gets all', () => {
    const { human, llm, choice } = panes({
      content: [text('all', []), text('model', ['assistant']), text('both', ['user', 'assistant'])],
    });
    expect(human.drawing).toMatchObject({ text: 'all\nboth' });
    expect(human.notes).toEqual(['skipped content[1] text: its audience is the assistant only']);
    expect(choice.skipped).toMatchObject([{ index: 1 }]);
    expect(llm.drawing).toMatchObject({ text: 'all\nmodel\nboth' });
  });

  test('very large structured content is cut for the eye', () => {
    const { human } = panes({ structuredContent: { text: 'x'.repeat(300_000) }, isError: false });
    expect(human.drawing).toMatchObject({ text: expect.stringMatching(/… \d+ more characters$/) });
  });
});

describe('of a view', () => {
  const view = (content: Readonly<Record<string, unknown>>, updates = 1) =>
    viewPane({ type: 'diff', content, updates });
  const PATCH = '--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-old\n+new\n';

  test('RT-VIEW: a view is a pane of its own, which says of what type it is', () => {
    expect(view({ patch: PATCH })).toMatchObject({
      title: 'view',
      about: expect.stringMatching(/^diff, /),
      notes: [],
      drawing: { kind: 'diff' },
    });
  });

  test('what cannot be drawn is shown as it came, with the reason', () => {
    const { notes, drawing } = view({ patch: 7 });
    expect(notes).toEqual([expect.stringContaining('malformed diff')]);
    expect(drawing).toEqual({ kind: 'text', text: '{\n  "patch": 7\n}' });
  });

  test('threats, row 24: characters that no one would see are reported', () => {
    expect(view({ patch: 'n\u202eo diff' }).notes).toEqual([
      expect.stringContaining('malformed diff'),
      '1 control or invisible character shown',
    ]);
  });
});
