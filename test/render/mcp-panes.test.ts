import { expect, test } from 'vitest';
import { readMcpAnswer } from '../../src/events/answer.js';
import { panesOfMcp } from '../../src/render/panes.js';

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
