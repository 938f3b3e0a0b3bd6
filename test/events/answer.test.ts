import { describe, expect, test } from 'vitest';
import { translate } from '../../src/dialects/dialects.js';
import { answerOf, answerOfOurs, answerOfResult } from '../../src/events/answer.js';
import {
  acknowledged,
  call,
  exchangeOf,
  INVOCATION,
  KEY,
  RESULT,
  resultArrives,
  THREAD,
  timedOut,
} from './build.js';

const CALL = { id: KEY, thread: THREAD, tool: 'edit_file', args: { path: 'src/main.rs' } };

test('a pending call has no answer', () => {
  expect(answerOf(exchangeOf(call(), acknowledged()))).toBeNull();
});

describe("a tool's result", () => {
  const exchange = exchangeOf(call(), resultArrives({ extra: 1 }));

  test('is its answer, with what the invocation says of the call', () => {
    expect(answerOf(exchange)?.answer).toMatchObject({
      call: CALL,
      outcome: { type: 'success', basis: 'assumed' },
      payload: 'done',
    });
  });

  test('is the message itself on its own wire', () => {
    const answer = answerOf(exchange);
    expect(answer && translate(answer, 'rap')).toEqual({ body: { ...RESULT, extra: 1 }, warnings: [] });
  });

  test('that is none has no answer', () => {
    expect(answerOfResult(INVOCATION, { type: 'tool_result' })).toBeNull();
  });

  test('without its invocation is known by its own ids', () => {
    expect(answerOfResult(undefined, RESULT)?.answer.call).toEqual({ id: KEY, thread: THREAD });
  });
});

describe('an outcome of our own making', () => {
  test('is the answer where the tool sent none', () => {
    expect(answerOf(exchangeOf(call(), timedOut(30_000)))).toEqual({
      answer: { call: CALL, outcome: { type: 'timeout', durationMs: 30_000, basis: 'ours' } },
    });
  });

  test('names the secondary id of its call', () => {
    const outcome = { type: 'canceled', basis: 'ours' } as const;
    const { call: asked } = answerOfOurs({ ...INVOCATION, call_id: 'c9' }, outcome);
    expect(asked).toEqual({ ...CALL, secondaryId: 'c9' });
  });
});
