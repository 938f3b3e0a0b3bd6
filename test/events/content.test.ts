import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { Content } from '../../src/events/content.js';

const digestOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

test('has the bytes, their size, their digest and their JSON', () => {
  const bytes = Buffer.from('{"a":1}');
  const content = new Content(bytes);
  expect(content.bytes).toBe(bytes);
  expect(content.size).toBe(7);
  expect(content.sha256).toBe(digestOf(bytes));
  expect(content.json).toEqual({ ok: true, value: { a: 1 }, notes: [] });
  expect(content.json).toBe(content.json);
});

test('bytes that are not JSON', () => {
  expect(new Content(Buffer.from([0xff])).json.ok).toBe(false);
});

test('ofJson encodes a value', () => {
  expect(Buffer.from(Content.ofJson({ text: '日本' }).bytes).toString()).toBe('{"text":"日本"}');
});

describe('withoutBytes', () => {
  const LARGE = JSON.stringify({ text: 'é😀"\n'.repeat(200_000) });

  test.each([
    ['a small body', '{"a":1}'],
    ['a large text', LARGE],
    ['an invalid JSON text', '{'],
  ])('%s: has everything but the bytes', (_, source) => {
    const kept = new Content(Buffer.from(source));
    const { size, sha256, json } = Content.withoutBytes(Buffer.from(source));
    expect({ size, sha256, json }).toEqual({ size: kept.size, sha256: kept.sha256, json: kept.json });
  });

  test('throws when the dropped bytes are read', () => {
    const content = Content.withoutBytes(Buffer.from(LARGE));
    expect(() => content.bytes).toThrow('the bytes of this body were not kept');
    expect(content).toBeInstanceOf(Content);
  });
});
