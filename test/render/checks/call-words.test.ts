import { expect, test } from 'vitest';
import { callsText, callText } from '../../../src/render/check-pieces.js';

const ID = 'call_3f0b9c1e-77aa-4c55-9a44-0d6d5f6b2f01';
const call = { operation: 'edit_file', id: ID, line: 9 };

test('a call is its operation, its id, and where it is told of', () => {
  expect(callText(call, 'run.ndjson')).toBe(`edit_file · ${ID} · run.ndjson:9`);
  expect(callText(call)).toBe(`edit_file · ${ID} · line 9`);
  expect(callText({ operation: null, id: null, line: 3 }, 'run.ndjson')).toBe(
    'no operation · no id · run.ndjson:3',
  );
});

test('threats, row 24: it stays on its line', () => {
  const hostile = { operation: 'a\nb\u001b[2J', id: '\r\nid', line: 1 };
  expect(callText(hostile, 'x\ny')).toBe('a␊b␛[2J · ␍␊id · x␊y:1');
  expect(callsText([hostile], 'x')).toBe('a␊b␛[2J · ␍␊id · x:1');
});

test('on a screen so much of an id as tells one from the other; a short one whole', () => {
  expect(callText(call, 'run.ndjson', 'short')).toBe('edit_file · call_3f0b9c1e-77aa-4… · run.ndjson:9');
  expect(callText({ operation: 'edit_file', id: ID }, 'run.ndjson', 'short')).toBe(`edit_file · ${ID}`); // no line tells it
  expect(callText({ operation: 'edit_file', id: 'call_1' }, 'run.ndjson', 'short')).toBe(
    'edit_file · call_1',
  );
});

test('of many the first three', () => {
  const many = ['a', 'b', 'c', 'd', 'e'].map(id => ({ operation: 'op', id }));
  expect(callsText(many, 'run.ndjson')).toBe('op · a, op · b, op · c and 2 more');
});
