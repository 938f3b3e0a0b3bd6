import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { Content } from '../../src/exchange/content.js';

test('bytes as they came, their digest and their JSON', () => {
  const bytes = Buffer.from('{"a":1}');
  const content = new Content(bytes);
  expect(content.bytes).toBe(bytes);
  expect(content.sha256).toBe(createHash('sha256').update(bytes).digest('hex'));
  expect(content.json).toEqual({ ok: true, value: { a: 1 }, notes: [] });
  expect(content.json).toBe(content.json);
});

test('bytes that are no JSON', () => {
  expect(new Content(Buffer.from([0xff])).json.ok).toBe(false);
});

test('of a value', () => {
  expect(Buffer.from(Content.ofJson({ text: '日本' }).bytes).toString()).toBe('{"text":"日本"}');
});
