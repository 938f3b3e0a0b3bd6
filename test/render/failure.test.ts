import { describe, expect, test } from 'vitest';
import { failureOf } from '../../src/render/failure.js';
import {
  acknowledged,
  answered,
  arrives,
  CHOICE,
  call,
  chose,
  ENDPOINT,
  exchangeOf,
  gaveUp,
  historyOf,
  INVOCATION,
  KEY,
  type Moment,
  RESULT,
  timedOut,
  untrackedRequest,
  VIEW,
} from '../events/build.js';

describe('RT-NON200: the hint for a refusal depends on its status', () => {
  test.each([
    [201, /^Only 200 acknowledges .*--lenient-ack/],
    [204, /^Only 200 acknowledges .*--lenient-ack/],
    [302, /^Redirects are not followed/],
    [400, /^A request that got a 4xx is not retried \(RT-NORETRY\)/],
    [401, /^Give a token with --bearer/],
    [404, /^Usually nothing is served at the toolset's endpoint http:\S+ then: correct/],
    [429, /^The tool limits the rate of calls/],
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

describe('a timeout reports the invocation, the acknowledgement and the callback address', () => {
  test.each([
    [
      'acknowledged',
      [acknowledged()],
      'it was acknowledged with 200, and no callback has arrived',
      'reach its callback URL at http://127.0.0.1:4000 (',
    ],
    [
      'not acknowledged',
      [],
      'it was not acknowledged',
      'answer 200 before it starts to work. To wait longer, use --timeout.',
    ],
  ])('%s', (_, rest, said, hint) => {
    const failure = failureOf(exchangeOf(call(), ...rest, timedOut(5_000)));
    expect(failure?.code).toBe('timeout');
    expect(failure?.message).toBe(`timed out after 5s: edit_file was sent to ${ENDPOINT}, ${said}`);
    expect(failure?.hint).toContain(hint);
  });

  test('TOOL-ASYNC: the hint starts with the ignored body of the acknowledgement', () => {
    const said = answered(200, { body: JSON.stringify(RESULT) });
    const failure = failureOf(exchangeOf(call(), said, timedOut(2_000)));
    const size = JSON.stringify(RESULT).length;
    expect(failure?.message).toMatch(
      new RegExp(`, it was acknowledged with 200, and a body of ${size} bytes, and no callback has arrived$`),
    );
    expect(failure?.hint).toMatch(
      new RegExp(
        `^The body of the 200 \\(${size} bytes\\) is ignored; the tool must POST the result to callback_url\\. `,
      ),
    );
    expect(failure?.hint).toContain('reach its callback URL at http://127.0.0.1:4000 (');
  });

  test('names a rejected callback as the most likely reason', () => {
    const stray = arrives({ ...RESULT, id: 'x' });
    const hint = failureOf(exchangeOf(call(), acknowledged(), stray, timedOut()))?.hint;
    expect(hint).toMatch(/^A callback arrived at http:\/\/127.0.0.1:4000 but was not accepted: id is "x"/);
  });

  test('reports a selection that could not be sent', () => {
    const unanswered = untrackedRequest('choice', null).map(each => ({ ...each, calls: [KEY] }));
    const { first, untracked } = historyOf(
      call(),
      acknowledged(),
      arrives(CHOICE),
      chose(0),
      unanswered,
      timedOut(),
    );
    const hint = first && failureOf(first, untracked)?.hint;
    expect(hint).toMatch(/^The tool asked for a choice, but the selection did not reach its response_url/);
  });

  test.each<[string, Moment[], string, string]>([
    [
      'was answered',
      [],
      'its response_url answered the selection with 200, and nothing came after it',
      'The tool got the selection, but sent no result: see its log, or wait longer with --timeout.',
    ],
    [
      'was answered, and a view came after it',
      arrives(VIEW, { leg: 'view' }),
      'its response_url answered the selection with 200, and no result has arrived',
      'The tool got the selection, but sent no result: see its log, or wait longer with --timeout.',
    ],
  ])('reports a selection that %s', (_, after, said, hint) => {
    const accepted = untrackedRequest('choice', 200).map(each => ({ ...each, calls: [KEY] }));
    const { first, untracked } = historyOf(
      ...[call(), acknowledged(), arrives(CHOICE), chose(0), accepted, after, timedOut(5_000)],
    );
    expect(first && failureOf(first, untracked)).toEqual({
      code: 'timeout',
      message: `timed out after 5s: edit_file was sent to ${ENDPOINT}, it was acknowledged with 200, ${said}`,
      hint,
    });
  });

  test('a callback URL that was reached is not suspected', () => {
    const failure = failureOf(exchangeOf(call(), acknowledged(), arrives(VIEW), timedOut(5_000)));
    expect(failure?.message).toMatch(/, it was acknowledged with 200, and no result has arrived$/);
    expect(failure?.hint).toBe(
      'The tool reached its callback URL, but sent no result: see its log, or wait longer with --timeout.',
    );
  });

  test.each(['close', 'cancel'] as const)('a tool that refuses the %s notice no longer answers', purpose => {
    const about = purpose === 'close' ? { thread: INVOCATION.group_id } : { calls: [KEY] };
    const notice = (status: number | null) =>
      untrackedRequest(purpose, status).map(each => ({ ...each, ...about }));
    const failureAfter = (status: number | null) => {
      const { first, untracked } = historyOf(call(), acknowledged(), timedOut(2_000), notice(status));
      return first && failureOf(first, untracked);
    };
    expect(failureAfter(200)?.message).not.toContain('no longer');
    expect(failureAfter(null)).toMatchObject({
      code: 'timeout',
      message: expect.stringMatching(
        /^timed out after 2s: .* no callback has arrived; the tool no longer answers$/,
      ),
      hint: 'The tool ended, or closed its port: see its log, and start it again.',
    });
  });

  test('does not throw at an invalid callback URL in a file', () => {
    const invocation = { ...INVOCATION, callback_url: 'somewhere' };
    expect(failureOf(exchangeOf(call({ invocation }), timedOut()))?.code).toBe('timeout');
  });
});

test('row 15: shortens a very long question', () => {
  const choices = Array.from({ length: 5_000 }, (_, index) => `${index}${'x'.repeat(1_000)}`);
  const { message = '', hint = '' } =
    failureOf(exchangeOf(call(), arrives({ ...CHOICE, prompt: 'y'.repeat(100_000), choices }))) ?? {};
  expect(message.length).toBeLessThan(400);
  expect(hint).toMatch(/: 0 0x+…, 1 1x+…, .*, 19 19x+… and 4980 more\.$/);
});
