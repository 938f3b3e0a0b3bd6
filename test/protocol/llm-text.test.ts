import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ContentItem } from '../../src/protocol/callbacks.js';
import { llmText } from '../../src/protocol/outcome.js';
import { anyCodePoint } from '../support/characters.js';

const result = { type: 'tool_result', group_id: 'g', id: 'i' } as const;

const text = (words: string): ContentItem => ({ type: 'text', text: words });

const image: ContentItem = { type: 'image', data: 'AAAA', mediaType: 'image/png' };

test('RT-TEXT: text is unchanged, whatever display_as contains', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCodePoint }), fc.string(), (words, shown) => {
      const display_as = [{ type: 'text', content: shown }];
      expect(llmText({ ...result, text: words, display_as })).toBe(words);
    }),
  );
});

describe('content, from the later version of the protocol, replaces text', () => {
  test.each<[ContentItem[], string]>([
    [[text('a')], 'a'],
    [[text('a'), text(''), text('b')], 'a\n\nb'],
    [[text('a picture'), image], 'a picture\n[image: image/png, 3 bytes]'],
  ])('%j', (content, words) => {
    expect(llmText({ ...result, content })).toBe(words);
    expect(llmText({ ...result, content, text: 'the older form' })).toBe(words);
  });
});

test('an empty content counts as absent', () => {
  expect(llmText({ ...result, content: [], text: 'the older form' })).toBe('the older form');
  expect(llmText({ ...result, content: [] })).toBe('');
});

test('does not count the padding of base64', () => {
  const data = Buffer.from('four').toString('base64');
  expect(llmText({ ...result, content: [{ ...image, data }] })).toBe('[image: image/png, 4 bytes]');
});
