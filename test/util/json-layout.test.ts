import { expect, test } from 'vitest';
import { inLayout } from '../../src/util/json-format.js';

const LAYOUT =
  '{ "type":"tool_result",\n "text": "caf\\u00e9 {{", "n": 1.0, "id" : "old", "list": [ {"id":"old"}, null ] }';

test('values are written anew where they differ; all else stays, members that are not there stay away', () => {
  const value = {
    id: 'new',
    call_id: null,
    type: 'tool_result',
    text: 'café {{',
    n: 1,
    list: [{ id: 'new' }, null],
  };
  expect(inLayout(LAYOUT, value)).toBe(LAYOUT.replaceAll('"old"', '"new"'));
});

test.each([
  ['another shape', '{"a":[1]}', { a: 'x' }, '{"a":"x"}'],
  ['an object for a list', '{"a":[1]}', { a: { b: 1 } }, '{"a":{"b":1}}'],
  ['no JSON', '{"a":', { a: 1 }, '{"a":1}'],
  ['a missing member', '{"a":1,"b":2}', { b: 2 }, '{"a":null,"b":2}'],
])('%s', (_, layout, value, json) => {
  expect(inLayout(layout, value)).toBe(json);
});
