import { expect, test } from 'vitest';
import { TimeLimitError, withTimeLimit } from '../../src/util/time-limit.js';
import { compactJson, jsonPath } from '../../src/util/values.js';

test.each([
  [[], '$'],
  [['tools', 0, 'name'], '$.tools[0].name'],
  [['a.b', '$ref', '_1', ''], '$["a.b"].$ref._1[""]'],
  [['quote"'], '$["quote\\""]'],
])('%j is the path %s', (path, text) => {
  expect(jsonPath(path)).toBe(text);
});

test('null for a value that is not JSON', () => {
  const cycle: unknown[] = [];
  cycle.push(cycle);
  for (const none of [cycle, 1n, undefined, () => 1]) expect(compactJson(none)).toBeNull();
});

test('row 22: stops endless work and runs later work; rethrows errors of the work unchanged', () => {
  const endless = () => {
    for (;;);
  };
  expect(() => withTimeLimit(endless)).toThrow(TimeLimitError);
  expect(withTimeLimit(() => 'next')).toBe('next');
  const error = new TypeError('mine');
  const failing = () => {
    throw error;
  };
  expect(() => withTimeLimit(failing)).toThrow(error);
});

test('row 22: the limit is CPU time, so work that gets little of it is not stopped', () => {
  const cell = new Int32Array(new SharedArrayBuffer(4));
  const starved = () => Atomics.wait(cell, 0, 0, 1_000);
  expect(withTimeLimit(starved, 250)).toBe('timed-out');
});
