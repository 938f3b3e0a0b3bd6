import { describe, expect, test } from 'vitest';
import {
  canceled,
  denied,
  error,
  payload,
  result,
  silence,
  stepOf,
  timeout,
} from '../../../src/mock/handlers.js';

describe('what a handler returned, as a step', () => {
  test.each<[unknown, object]>([
    ['done', { kind: 'payload', payload: 'done' }],
    [undefined, { kind: 'payload', payload: null }],
    [null, { kind: 'payload', payload: null }],
    [
      { kind: 'result', result: { text: 'a plain value' } },
      { kind: 'payload', payload: { kind: 'result' } },
    ],
    [[1], { kind: 'payload', payload: [1] }],
    [payload({ a: 1 }), { kind: 'payload', payload: { a: 1 } }],
    [result({ text: 'x', more: 1 }), { kind: 'result', result: { text: 'x', more: 1 } }],
    [error('no disk'), { kind: 'error', error: { message: 'no disk' } }],
    [canceled('late', 'policy'), { kind: 'canceled', canceled: { reason: 'late', by: 'policy' } }],
    [canceled('late'), { kind: 'canceled', canceled: { reason: 'late', by: 'system' } }],
    [timeout(30_000), { kind: 'timeout', timeout: { durationMs: 30_000 } }],
    [denied('rm', 'no'), { kind: 'denied', denied: { tool: 'rm', reason: 'no' } }],
    [silence(), { kind: 'silence' }],
  ])('%j', (returned, step) => {
    expect(stepOf(returned)).toMatchObject({ delay: 0, ...step });
  });

  test('another copy of this library makes the same outputs', () => {
    const foreign = { [Symbol.for('protocol-cli.output')]: true, kind: 'error', error: { message: 'x' } };
    expect(stepOf(foreign)).toMatchObject({ kind: 'error' });
  });
});
