import { describe, expect, test } from 'vitest';
import { heardLines, strayLine } from '../../src/render/callback-lines.js';
import {
  arrives,
  CHOICE,
  EVENT,
  exchangeOf,
  expected,
  historyOf,
  OAUTH,
  RESULT,
  refused,
  VIEW,
} from '../events/build.js';
import { words } from '../support/words.js';

const IDS = 'group_id thread_xyz and id call_abc123';

/** What is reported of the last of these messages. */
function told(messages: readonly object[], isExpected = false): string[] {
  const exchange = exchangeOf(
    expected(),
    ...messages.map((message, index) => arrives(message, { leg: `back-${index}` })),
  );
  const arrival = exchange.arrivals.at(-1);
  if (!arrival) throw new Error('nothing came');
  return heardLines({ exchange, arrival, isExpected }).map(words);
}

describe('what came, and for which call', () => {
  test.each<[string, object[], string[]]>([
    ['a result', [RESULT], ['✓ result', `  would match a pending call with ${IDS}`]],
    ['a view', [VIEW], ['• view diff updated', '  would belong to a thread with group_id thread_xyz']],
    [
      'an event',
      [{ ...RESULT, subscription: true }, EVENT],
      ['• event 1 → child thread: opened', `  would match a pending call with ${IDS}`],
    ],
    [
      'an event that nothing announced',
      [EVENT],
      ['✗ subscription_event discarded with 404: no subscription was opened by this call', `  names ${IDS}`],
    ],
    [
      'a second result',
      [RESULT, { ...RESULT, text: 'other' }],
      ['• tool_result with other content; the first counts', `  names ${IDS}`],
    ],
    [
      'a question for consent',
      [OAUTH],
      ['• visit https://auth.example/consent to continue', `  would match a pending call with ${IDS}`],
    ],
  ])('%s', (_, messages, lines) => {
    expect(told(messages)).toEqual(lines);
  });

  test('a choice, and how it can be answered', () => {
    expect(told([CHOICE]).at(-1)).toBe(
      '  to answer, POST {"id":"call_abc123","selected":0} to http://127.0.0.1:3001/choices/1',
    );
  });

  test('what was said to come', () => {
    expect(told([RESULT], true)).toEqual(['✓ result', `  matches the expected call: ${IDS}`]);
  });

  test('of what is not a message there is only the reason', () => {
    expect(told([{ type: 'nope' }])).toEqual([
      expect.stringMatching(/^✗ callback rejected with 400: \$\.type/),
    ]);
  });
});

describe('a request that is nobody’s', () => {
  const strayed = (refusal: string, status: number) =>
    [...historyOf(refused(refusal, status)).untracked.values()].map(untrackedRequest =>
      words(strayLine(untrackedRequest, 'http://us/callback/t')),
    );

  test('went to a wrong address: where callbacks go', () => {
    expect(strayed('wrong-address', 404)).toEqual([
      '✗ a POST to /callback/wrong was refused with 404: callbacks go to http://us/callback/t',
    ]);
  });

  test('was refused by the guard: why', () => {
    expect(strayed('the Host is foreign', 403)).toEqual([
      '✗ a request to the callback listener, refused with 403: the Host is foreign',
    ]);
  });
});
