import { describe, expect, test } from 'vitest';
import { failureOf } from '../../src/story/failure.js';
import {
  acknowledged,
  answered,
  arrives,
  CHOICE,
  call,
  canceled,
  ENDPOINT,
  exchangeOf,
  gaveUp,
  INVOCATION,
  lost,
  OAUTH,
  RESULT,
  resultArrives,
  timedOut,
} from '../exchange/build.js';

describe('no failure', () => {
  test.each([
    ['pending', []],
    ['waiting for a consent', [arrives(OAUTH)]],
    ['a result', [resultArrives()]],
    ['a result that is an error: that is an outcome', [resultArrives({ text: 'Error: no' })]],
  ])('%s', (_, rest) => {
    expect(failureOf(exchangeOf(call(), acknowledged(), ...rest))).toBeNull();
  });
});

describe('RT-NON200: a refusal says what to do about its status', () => {
  test.each([
    [201, /^Only 200 acknowledges .*--lenient-ack/],
    [204, /^Only 200 acknowledges .*--lenient-ack/],
    [302, /^Redirects are never followed/],
    [400, /^A 4xx is never sent again \(RT-NORETRY\)/],
    [404, /^A 4xx is never sent again \(RT-NORETRY\)/],
    [500, /--retries/],
    [503, /--retries/],
  ])('%i', (status, hint) => {
    expect(failureOf(exchangeOf(call(), answered(status, { body: 'why' }), gaveUp()))).toEqual({
      code: 'bad-acknowledgement',
      message: `the tool did not accept the invocation: it answered ${status} instead of 200: why`,
      hint: expect.stringMatching(hint),
    });
  });
});

test('an unreachable tool: where, and why', () => {
  expect(failureOf(exchangeOf(call(), lost(), gaveUp()))).toEqual({
    code: 'unreachable',
    message: `${ENDPOINT}: the tool could not be reached (ECONNREFUSED)`,
    hint: 'Is the tool running, and is its endpoint right?',
  });
});

describe('a timeout says what was sent, what was acknowledged, and which address was given', () => {
  test.each([
    ['acknowledged', [acknowledged()], 'it was acknowledged with 200'],
    ['not acknowledged', [], 'it was never acknowledged'],
  ])('%s', (_, rest, said) => {
    const failure = failureOf(exchangeOf(call(), ...rest, timedOut(5_000)));
    expect(failure?.code).toBe('timeout');
    expect(failure?.message).toBe(`no result within 5s: edit_file was sent to ${ENDPOINT}, ${said}`);
    expect(failure?.hint).toContain('the callback URL it was given, at http://127.0.0.1:4000.');
  });

  test('a callback that did not count is the likeliest reason', () => {
    const stray = arrives({ ...RESULT, id: 'x' });
    const hint = failureOf(exchangeOf(call(), acknowledged(), stray, timedOut()))?.hint;
    expect(hint).toMatch(
      /^A callback came to the URL it was given, at http:\/\/127.0.0.1:4000, but did not count: id is "x"/,
    );
  });

  test('so is a post to another address', () => {
    const hint = failureOf(exchangeOf(call(), acknowledged(), timedOut()), 1)?.hint;
    expect(hint).toMatch(/^Something was posted to http:\/\/127.0.0.1:4000, but not to the callback URL/);
  });

  test('a callback URL that is none, as a file may hold it, is no reason to crash', () => {
    const invocation = { ...INVOCATION, callback_url: 'somewhere' };
    expect(failureOf(exchangeOf(call({ invocation }), timedOut()))?.code).toBe('timeout');
  });
});

test('a question that nobody answers', () => {
  expect(failureOf(exchangeOf(call(), arrives(CHOICE)))).toEqual({
    code: 'decision-needed',
    message: 'the tool asks "Where to?" and nobody is there to answer',
    hint: 'Answer with --choose <index, label or default>: 0 staging, 1 production.',
  });
});

test('an interruption', () => {
  expect(failureOf(exchangeOf(call(), canceled()))).toMatchObject({ code: 'interrupted' });
});
