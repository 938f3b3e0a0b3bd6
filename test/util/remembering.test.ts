import { expect, test } from 'vitest';
import { remembering } from '../../src/util/collections.js';

function counting() {
  const asked: string[] = [];
  const lengthOf = remembering(word => {
    asked.push(word);
    return word.length;
  });
  return { asked, lengthOf };
}

test('a word is judged once, and the judgement stays', () => {
  const { asked, lengthOf } = counting();
  expect([lengthOf('one'), lengthOf('three'), lengthOf('one')]).toEqual([3, 5, 3]);
  expect(asked).toEqual(['one', 'three']);
});

test('null and false are judgements too', () => {
  let count = 0;
  const nothing = remembering(() => {
    count++;
    return null;
  });
  expect([nothing('a'), nothing('a'), count]).toEqual([null, null, 1]);
});

test('memory is bounded: after a thousand words it begins anew', () => {
  const { asked, lengthOf } = counting();
  for (let index = 0; index <= 1_000; index++) lengthOf(`word ${index}`);
  lengthOf('word 1000');
  expect(asked).toHaveLength(1_001);
  lengthOf('word 0');
  expect(asked).toHaveLength(1_002);
});

test('a long word is judged, and not remembered', () => {
  const { asked, lengthOf } = counting();
  const long = 'x'.repeat(257);
  expect([lengthOf(long), lengthOf(long)]).toEqual([257, 257]);
  expect(asked).toHaveLength(2);
});
