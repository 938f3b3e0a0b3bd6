import { describe, expect, test } from 'vitest';
import { llmTextOf, outcomeOf } from '../../src/events/exchange.js';
import { outcomeOfText } from '../../src/protocol/outcome.js';
import {
  acknowledged,
  answered,
  call,
  canceled,
  exchangeOf,
  gaveUp,
  lost,
  resultArrives,
  timedOut,
} from './build.js';

test('a pending call has neither an outcome nor a text', () => {
  const exchange = exchangeOf(call(), acknowledged());
  expect(outcomeOf(exchange)).toBeNull();
  expect(llmTextOf(exchange)).toBeNull();
});

describe("RT-TEXT: the tool's text, and what it means by convention", () => {
  test.each([
    ['all is well', { type: 'success', basis: 'assumed' }],
    ['Error: no', { type: 'error', message: 'no', basis: 'convention' }],
    ['{"denied":{"tool":"rm"}}', { type: 'denied', tool: 'rm', basis: 'convention' }],
  ])('%s', (text, outcome) => {
    const exchange = exchangeOf(call(), resultArrives({ text }));
    expect(outcomeOf(exchange)).toEqual(outcome);
    expect(llmTextOf(exchange)).toBe(text);
  });
});

describe('an outcome of our own making is ours, and is said in the words of seed 002', () => {
  const refusal = 'the tool did not accept the invocation: it answered 400 instead of 200';
  test.each([
    [
      'RT-NON200: a refusal',
      [answered(400, { body: ' bad request\n' }), gaveUp()],
      { type: 'error', message: `${refusal}: bad request` },
      `Error: ${refusal}: bad request`,
    ],
    [
      'a refusal without a word',
      [answered(400), gaveUp()],
      { type: 'error', message: refusal },
      `Error: ${refusal}`,
    ],
    [
      'an unreachable tool',
      [lost(), gaveUp()],
      { type: 'error', message: 'the tool could not be reached (ECONNREFUSED)' },
      'Error: the tool could not be reached (ECONNREFUSED)',
    ],
    [
      'RT-TIMEOUT: a timeout',
      [timedOut(30_000)],
      { type: 'timeout', durationMs: 30_000 },
      '{"timeout":{"durationMs":30000}}',
    ],
    ['a person', [canceled('person')], { type: 'canceled', by: 'user' }, '{"canceled":{"by":"user"}}'],
    ['a policy', [canceled('policy')], { type: 'canceled', by: 'policy' }, '{"canceled":{"by":"policy"}}'],
  ])('%s', (_, rest, outcome, text) => {
    const exchange = exchangeOf(call(), ...rest);
    expect(outcomeOf(exchange)).toEqual({ ...outcome, basis: 'ours' });
    expect(llmTextOf(exchange)).toBe(text);
    expect(outcomeOfText(text)).toMatchObject(outcome);
  });
});

test('a long refusal is cut, but never through a character', () => {
  const body = `a${'😀'.repeat(500)}`;
  const text = llmTextOf(exchangeOf(call(), answered(400, { body }), gaveUp())) ?? '';
  expect(text.length).toBeLessThan(300);
  expect(text.isWellFormed()).toBe(true);
});
