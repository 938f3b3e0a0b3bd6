import { describe, expect, test } from 'vitest';
import { type Block, fromBlocks, imagePlaceholder, imagesOf } from '../../src/dialects/common.js';

const text = (words: string): Block => ({ kind: 'text', text: words });
const IMAGE = { data: 'AAAA', mediaType: 'image/png' };
const image: Block = { kind: 'image', image: IMAGE };
const other: Block = { kind: 'other', block: { type: 'audio' } };

describe('pieces that come out the same have no order to lose', () => {
  test.each<[Block[]]>([
    [[]],
    [[text('a')]],
    [[image]],
    [[text('a'), image, image, other, other]],
    [[image, other]],
  ])('%j', blocks => {
    expect(fromBlocks(blocks).beside).not.toHaveProperty(['order of content']);
  });
});

describe('any others have one', () => {
  test.each<[Block[], string]>([
    [[text('a'), text('b')], 'text, text'],
    [[image, text('a')], 'image, text'],
    [[other, image], 'other, image'],
    [[text('a'), image, text('b')], 'text, image, text'],
    [Array(30).fill(text('a')), `${Array(20).fill('text').join(', ')} …`],
  ])('%j', (blocks, order) => {
    expect(fromBlocks(blocks).beside).toHaveProperty(['order of content'], order);
  });
});

test('texts are joined by a line feed, the rest stands beside', () => {
  expect(fromBlocks([text('a'), text(''), image, other])).toMatchObject({
    text: 'a\n',
    beside: { images: [IMAGE], 'other content': [{ type: 'audio' }] },
  });
  expect(fromBlocks([image]).text).toBeUndefined();
});

test('what somebody calls images and is none is passed over', () => {
  const answer = { call: { id: null }, outcome: { type: 'success', basis: 'ours' } } as const;
  expect(imagesOf({ ...answer, beside: { images: [IMAGE, null, 'x', {}] } })).toEqual([IMAGE]);
  expect(imagesOf({ ...answer, beside: { images: 'x' } })).toEqual([]);
  expect(imagesOf(answer)).toEqual([]);
});

test('an image is told by its type and its size', () => {
  expect(imagePlaceholder(IMAGE)).toBe('[image: image/png, 3 bytes]');
});
