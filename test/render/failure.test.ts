import { describe, expect, test } from 'vitest';
import { failureOf } from '../../src/render/failure.js';
import {
  acknowledged,
  answered,
  arrives,
  CHOICE,
  call,
  canceled,
  chose,
  consented,
  denied,
  ENDPOINT,
  errand,
  exchangeOf,
  gaveUp,
  historyOf,
  INVOCATION,
  KEY,
  lost,
  OAUTH,
  RESULT,
  refused,
  resultArrives,
  timedOut,
  VIEW,
} from '../events/build.js';

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
    ['acknowledged', [acknowledged()], 'it was acknowledged with 200, and no callback has arrived'],
    ['not acknowledged', [], 'it was never acknowledged'],
  ])('%s', (_, rest, said) => {
    const failure = failureOf(exchangeOf(call(), ...rest, timedOut(5_000)));
    expect(failure?.code).toBe('timeout');
    expect(failure?.message).toBe(`no result within 5s: edit_file was sent to ${ENDPOINT}, ${said}`);
    expect(failure?.hint).toContain('the callback URL it was given, at http://127.0.0.1:4000.');
  });

  test('TOOL-ASYNC: a body in the acknowledgement is what nobody reads, and comes first', () => {
    const said = answered(200, { body: JSON.stringify(RESULT) });
    const failure = failureOf(exchangeOf(call(), said, timedOut(2_000)));
    const size = JSON.stringify(RESULT).length;
    expect(failure?.message).toMatch(
      new RegExp(`, it was acknowledged with 200, and a body of ${size} bytes, and no callback has arrived$`),
    );
    expect(failure?.hint).toMatch(
      new RegExp(
        `^The 200 had a body of ${size} bytes, which nobody reads: POST the result to the callback_url\\. `,
      ),
    );
    expect(failure?.hint).toContain('the callback URL it was given, at http://127.0.0.1:4000.');
  });

  test('a consent that nobody gave is no fault of the tool', () => {
    const story = [call(), acknowledged(), arrives(OAUTH)];
    expect(failureOf(exchangeOf(...story, timedOut(500)))).toEqual({
      code: 'timeout',
      message: 'consent was not given within 500ms: edit_file waits for somebody to visit its URL',
      hint: expect.stringContaining('Without --timeout'),
    });
    const given = failureOf(exchangeOf(...story, consented(), timedOut(500)));
    expect(given?.message).toContain('no result within 500ms');
  });

  test('a callback that did not count is the likeliest reason', () => {
    const stray = arrives({ ...RESULT, id: 'x' });
    const hint = failureOf(exchangeOf(call(), acknowledged(), stray, timedOut()))?.hint;
    expect(hint).toMatch(
      /^A callback came to the URL it was given, at http:\/\/127.0.0.1:4000, but did not count: id is "x"/,
    );
  });

  test('so is a post to another address', () => {
    const { first, errands } = historyOf(call(), acknowledged(), refused('wrong-address', 404), timedOut());
    const hint = first && failureOf(first, errands)?.hint;
    expect(hint).toMatch(/^Something was posted to http:\/\/127.0.0.1:4000, but not to the callback URL/);
  });

  test('so is a selection that did not arrive', () => {
    const unanswered = errand('choice', null).map(each => ({ ...each, calls: [KEY] }));
    const { first, errands } = historyOf(
      call(),
      acknowledged(),
      arrives(CHOICE),
      chose(0),
      unanswered,
      timedOut(),
    );
    const hint = first && failureOf(first, errands)?.hint;
    expect(hint).toMatch(/^The tool had asked, and the selection did not reach its response_url/);
  });

  test('a view of a type that nobody knows is none', () => {
    const view = arrives({ ...VIEW, view_type: 'chart' });
    expect(failureOf(exchangeOf(call(), acknowledged(), view, timedOut()))?.hint).not.toContain('chart');
  });

  test('a callback URL that is none, as a file may hold it, is no reason to crash', () => {
    const invocation = { ...INVOCATION, callback_url: 'somewhere' };
    expect(failureOf(exchangeOf(call({ invocation }), timedOut()))?.code).toBe('timeout');
  });
});

test('a question that nobody answers', () => {
  expect(failureOf(exchangeOf(call(), arrives(CHOICE)))).toEqual({
    code: 'decision-needed',
    message: 'the tool asks "Where to?" and nobody answered',
    hint: 'Answer with --choose <index, label or default>: 0 staging, 1 production.',
  });
});

test('the question that nobody answers, though a page was opened before', () => {
  const asked = [arrives(OAUTH, { leg: 'page' }), arrives(CHOICE, { leg: 'pick' })];
  expect(failureOf(exchangeOf(call(), ...asked))?.code).toBe('decision-needed');
  expect(failureOf(exchangeOf(call(), ...asked, chose(0, 'pick')))).toBeNull();
});

test('row 15: of a question with very much in it, what a person reads', () => {
  const choices = Array.from({ length: 5_000 }, (_, index) => `${index}${'x'.repeat(1_000)}`);
  const { message = '', hint = '' } =
    failureOf(exchangeOf(call(), arrives({ ...CHOICE, prompt: 'y'.repeat(100_000), choices }))) ?? {};
  expect(message.length).toBeLessThan(400);
  expect(hint).toMatch(/: 0 0x+…, 1 1x+…, .*, 19 19x+… and 4980 more\.$/);
});

test('an interruption', () => {
  expect(failureOf(exchangeOf(call(), canceled()))).toMatchObject({ code: 'interrupted' });
});

test('a call that was given up since nobody answered says that, and not that somebody interrupted it', () => {
  const exchange = exchangeOf(call(), acknowledged(), arrives(CHOICE), canceled('policy'));
  expect(failureOf(exchange)).toMatchObject({
    code: 'decision-needed',
    message: 'given up: nobody answered its question',
  });
  expect(failureOf(exchangeOf(call(), canceled('policy')))?.message).toBe('given up');
});

describe('in the workbench it says whose option it is that would help, and names none that is only for a command line', () => {
  test.each([
    ['refused with 503', [answered(503), gaveUp()], /as often as invoke -i --retries allows/],
    ['refused with 202', [answered(202), gaveUp()], /; invoke -i --lenient-ack waits/],
    [
      'silent',
      [acknowledged(), timedOut()],
      /invoke -i --callback-url gives .* invoke -i --timeout more time/,
    ],
    ['forbidden', [denied()], /^The file of invoke -i --policy says/],
    ['without a consent', [acknowledged(), arrives(OAUTH), timedOut()], /^Run it again here, and visit/],
  ])('%s', (_, rest, hint) => {
    const failure = failureOf(exchangeOf(call(), ...rest), undefined, 'workbench');
    expect(failure?.hint).toMatch(hint);
    expect(failure?.hint?.replaceAll(/invoke -i --/g, '')).not.toContain('--');
  });
});
