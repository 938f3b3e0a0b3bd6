import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { Content } from '../../src/events/content.js';
import type { Fact } from '../../src/events/events.js';
import { LIMITS } from '../../src/util/limits.js';
import { Verification } from '../../src/verification/verification.js';
import {
  applyFacts,
  cancelNotice,
  chosen,
  closeNotice,
  delivered,
  dropped,
  FIXTURES,
  invoked,
  matched,
  nameless,
  planned,
  posted,
  verified,
} from './run.js';

const call = (key: string) => [...invoked(key), ...matched(key, 'pay')];
const paid = (key: string) => [...call(key), ...delivered(key)];
const url = 'http://127.0.0.1:9/cb/a';

describe('a run in which everything happened', () => {
  test('is ok', () => {
    expect(verified(paid('a'), paid('b'))).toEqual({
      ok: true,
      calls: 2,
      fixtures: [{ id: 'pay', place: 'tool.yaml:3', calls: 2, ms: 8, status: 'used' }],
      unmatched: { count: 0, examples: [] },
      undelivered: { count: 0, examples: [] },
      ms: { invocations: 2, callbacks: 2 },
      problems: [],
    });
  });

  test('a handler answers calls but is not listed as a fixture', () => {
    const verification = new Verification([]);
    applyFacts(verification, invoked('a'), matched('a', 'handler:pay'), delivered('a'));
    expect(verification.report()).toMatchObject({ ok: true, calls: 1, fixtures: [] });
  });
});

describe('fixtures', () => {
  test('an unused fixture is a failure', () => {
    expect(verified()).toMatchObject({ ok: false, fixtures: [{ calls: 0, status: 'unused' }] });
  });

  test.each([
    [{ operation: 'pay', arguments: { $exact: { amount: 7 } } }, 'pay {"amount":7}'],
    [
      { operation: { $regex: '^pay' }, arguments: { amount: { $gt: 1 } } },
      '{"$regex":"^pay"} {"amount":{"$gt":1}}',
    ],
    [{ arguments: { long: 'x'.repeat(200) } }, expect.stringMatching(/^any operation .{100,110}…$/)],
  ])('a recorded fixture shows what it matches: %j', (match, answers) => {
    const verification = new Verification([{ id: 'run.ndjson#2', place: 'run.ndjson#2', match }]);
    expect(verification.report().fixtures).toMatchObject([
      { id: 'run.ndjson#2', place: 'run.ndjson#2', answers, calls: 0, ms: 0, status: 'unused' },
    ]);
  });

  test('RT-RETRY: counts a repeated invocation once, even after its call has ended', () => {
    const again = invoked('a', { attempt: 2 });
    expect(verified(call('a'), again, delivered('a'), again)).toMatchObject({
      ok: true,
      calls: 1,
      fixtures: [{ calls: 1 }],
    });
  });

  test('keep their calls after a reload', () => {
    const verification = new Verification(FIXTURES);
    applyFacts(verification, paid('a'));
    verification.reload([...FIXTURES, { id: 'new', place: 'tool.yaml:9' }]);
    expect(verification.report().fixtures).toMatchObject([
      { id: 'pay', calls: 1, status: 'used' },
      { id: 'new', calls: 0, status: 'unused' },
    ]);
  });
});

test.each([
  [undefined, 0, 'unused'],
  [undefined, 1, 'used'],
  [undefined, 9, 'used'],
  [{}, 0, 'unused'],
  [{ calls: {} }, 0, 'unused'],
  [{ calls: { min: 0 } }, 0, 'not-needed'],
  [{ calls: { min: 0 } }, 3, 'used'],
  [{ calls: { min: 2 } }, 0, 'unused'],
  [{ calls: { min: 2 } }, 1, 'too-few'],
  [{ calls: { min: 2 } }, 2, 'used'],
  [{ calls: { max: 2 } }, 0, 'unused'],
  [{ calls: { max: 2 } }, 2, 'used'],
  [{ calls: { max: 2 } }, 3, 'too-many'],
  [{ calls: { max: 0 } }, 0, 'not-needed'],
  [{ calls: { max: 0 } }, 1, 'too-many'],
  [{ calls: { min: 1, max: 1 } }, 1, 'used'],
] as const)('a fixture that expects %j, with %i calls, is %s', (expected, calls, status) => {
  const verification = new Verification([{ id: 'pay', place: 'tool.yaml:7', expect: expected }]);
  for (let count = 0; count < calls; count++) applyFacts(verification, paid(`c${count}`));
  const isFine = status === 'used' || status === 'not-needed';
  expect(verification.report()).toMatchObject({ ok: isFine, fixtures: [{ calls, status }] });
});

describe('a call that no fixture answered is a failure', () => {
  const nearest = { fixture: 'pay', path: '$.arguments.amount', reason: 'is 1, not 2' };

  test('reports the nearest fixture', () => {
    const parts = [
      invoked('a'),
      matched('a', null, { nearest }),
      delivered('a', { text: 'Error: no fixture' }),
    ];
    expect(verified(paid('b'), ...parts)).toMatchObject({
      ok: false,
      unmatched: { count: 1, examples: [{ operation: 'pay', id: 'a', group_id: 'thread_a', nearest }] },
      undelivered: { count: 0 },
    });
  });

  test.each([
    ['with a `matched` event', matched('a', null)],
    ['without a `matched` event', []],
  ])("TOOL-UNKNOWN-OP, TOOL-BAD-ARGS: reports the error's text once: %s", (_, said) => {
    const error = { text: 'Error: unknown operation "py".' };
    const came = [...invoked('a', { fields: { operation: 'py' } }), ...said];
    expect(verified(came, posted('a', 503, error), delivered('a', error)).unmatched).toEqual({
      count: 1,
      examples: [{ operation: 'py', id: 'a', group_id: 'thread_a', reason: 'unknown operation "py".' }],
    });
  });

  test.each([
    [
      'not JSON',
      '{',
      { operation: null, id: null, group_id: null },
      /^the invocation is malformed: not valid JSON/,
    ],
    [
      'no callback URL',
      '{"operation":"pay","id":"a"}',
      { operation: 'pay', id: 'a', group_id: null },
      /callback_url/,
    ],
  ])('TOOL-MALFORMED: also without a callback URL: %s', (_, bytes, who, reason) => {
    const { calls, unmatched, undelivered } = verified(nameless(bytes));
    expect({ calls, unmatched, undelivered }).toEqual({
      calls: 1,
      unmatched: { count: 1, examples: [{ ...who, reason: expect.stringMatching(reason) }] },
      undelivered: { count: 0, examples: [] },
    });
  });

  test('TOOL-RATE: not a call over the planned rate limit', () => {
    const late = [...invoked('b'), ...planned('b', 'rate-limit', 'fixture'), ...delivered('b')];
    expect(verified(paid('a'), late)).toMatchObject({ ok: true, calls: 2, fixtures: [{ calls: 1 }] });
  });

  test('lists the first hundred, and counts all', () => {
    const strangers = Array.from({ length: 150 }, (_, index) => [
      ...invoked(`c${index}`),
      ...matched(`c${index}`, null),
    ]);
    const { unmatched, undelivered } = verified(...strangers);
    expect([unmatched.count, unmatched.examples.length]).toEqual([150, 100]);
    expect([undelivered.count, undelivered.examples.length]).toEqual([150, 100]);
    expect(unmatched.examples[99]).toMatchObject({ id: 'c99' });
  });
});

describe('an undelivered callback is a failure', () => {
  test.each([
    ['it was refused', [posted('a', 404), dropped('a', 'answered 404')], 'answered 404', 'tool_result'],
    ['it was never sent', [dropped('a', 'not an allowed address')], 'not an allowed address', undefined],
    ['it is in progress', [posted('a', 'broken')], 'still pending', 'tool_result'],
    ['it was never created', [], 'still pending', undefined],
    [
      'a question is open',
      [delivered('a', { type: 'user_choice' })],
      'the runtime has not answered the question',
      undefined,
    ],
    [
      'its question was answered',
      [delivered('a', { type: 'user_choice' }), chosen('a')],
      'still pending',
      undefined,
    ],
    [
      'a question was refused',
      [posted('a', 400, { type: 'oauth' }), dropped('a', 'answered 400')],
      'answered 400',
      'oauth',
    ],
  ])('%s', (_, parts, why, type) => {
    expect(verified(call('a'), ...parts)).toMatchObject({ ok: false, calls: 1, unmatched: { count: 0 } });
    expect(verified(call('a'), ...parts).undelivered).toEqual({
      count: 1,
      examples: [{ operation: 'pay', id: 'a', url, ...(type && { type }), why }],
    });
  });

  test('an event after the result', () => {
    const event = { type: 'subscription_event' };
    const parts = [paid('a'), delivered('a', event), posted('a', 500, event), dropped('a', 'answered 500')];
    expect(verified(...parts).undelivered.examples).toEqual([
      { operation: 'pay', id: 'a', url, type: 'subscription_event', why: 'answered 500' },
    ]);
  });

  test.each(['?token=canary', '/canary-d859f485-4218-47f3', '/%63anary-d859f485-4218-47f3'])(
    'row 25: reports no token of the callback URL: %s',
    token => {
      const { undelivered } = verified(invoked('a', { fields: { callback_url: `${url}${token}` } }));
      expect(undelivered.examples[0]?.url).toMatch(/^http:\/\/127\.0\.0\.1:9\/cb\/a/);
      expect(JSON.stringify(undelivered)).not.toContain('anary');
    },
  );

  test('not a callback that is delivered by a retry', () => {
    expect(verified(call('a'), posted('a', 503), posted('a', 'broken'), delivered('a')).ok).toBe(true);
  });

  test('detects a result by its type, wherever the type is in the body', () => {
    const late = { text: 'x', type: 'tool_result' };
    const event = { type: 'subscription_event', text: '"type":"tool_result"' };
    expect(verified(call('a'), delivered('a', late)).undelivered.count).toBe(0);
    expect(verified(call('a'), delivered('a', event)).undelivered.count).toBe(1);
  });
});

describe('RT-CHOICE: a question whose answers were all refused is a failure', () => {
  const asked = [...call('a'), ...delivered('a', { type: 'user_choice' })];
  const refused = chosen('a', 400, 'it must be {id, selected}\nchoices: 0 Yes\n');
  const why =
    'the runtime has not answered the question: its answer was refused with 400: it must be {id, selected}';

  test.each([
    ['while the call is open', []],
    ['after its result', delivered('a')],
    ['after a message, and the result', [...delivered('a', { type: 'view_update' }), ...delivered('a')]],
  ])('%s', (_, parts) => {
    const { ok, undelivered, problems } = verified(asked, refused, parts);
    expect(ok).toBe(false);
    expect(undelivered).toEqual({ count: 1, examples: [{ operation: 'pay', id: 'a', url, why }] });
    expect(problems).toEqual([`undelivered callback: pay (a) to ${url}: ${why}`]);
  });

  test('also if the answer came before the acknowledgement of the question', () => {
    const [question, acknowledgement] = delivered('a', { type: 'user_choice' }) as [Fact, Fact];
    const crossed = [question, ...refused, acknowledgement];
    expect(verified(call('a'), crossed, delivered('a')).undelivered.count).toBe(1);
    const answered = [question, ...chosen('a'), acknowledgement];
    expect(verified(call('a'), answered).undelivered.examples).toMatchObject([{ why: 'still pending' }]);
  });

  test('a refusal without a reason', () => {
    const { undelivered } = verified(asked, chosen('a', 404), delivered('a'));
    expect(undelivered.examples).toMatchObject([{ why: expect.stringMatching(/ was refused with 404$/) }]);
  });

  test.each([
    ['that was answered rightly after it', [refused, chosen('a'), delivered('a')]],
    ['that was answered rightly before it', [chosen('a'), refused, delivered('a')]],
    ['of a canceled call', [refused, cancelNotice('a'), delivered('a')]],
    ['of a closed thread', [refused, closeNotice(), delivered('a')]],
    ['that nobody answered in time', [delivered('a')]],
    ['whose answer is refused as planned', [planned('a', 'choice status'), refused, delivered('a')]],
  ])('but not a question %s', (_, parts) => {
    expect(verified(asked, ...parts)).toMatchObject({ ok: true, problems: [] });
  });
});

describe('planned faults are no failures', () => {
  test.each([
    ['silence', [planned('a', 'silence', 'fixture')]],
    ['a dropped callback', [planned('a', 'drop')]],
    ['a refused wrong id', [planned('a', 'wrong-id'), posted('a', 404), dropped('a', 'answered 404')]],
    [
      'a refused malformed callback',
      [planned('a', 'malformed'), posted('a', 400), dropped('a', 'answered 400')],
    ],
    ['a canceled call', [cancelNotice('a'), posted('a', 404), dropped('a', 'answered 404')]],
    ['a closed thread', [closeNotice(), dropped('a', 'answered 404')]],
    [
      'a refused second copy',
      [planned('a', 'duplicate'), delivered('a'), posted('a', 404), dropped('a', 'answered 404')],
    ],
    [
      'a lost first copy',
      [planned('a', 'duplicate'), posted('a', 500), dropped('a', 'answered 500'), delivered('a')],
    ],
  ])('%s', (_, parts) => {
    expect(verified(call('a'), ...parts).undelivered.count).toBe(0);
  });

  test('but two lost copies are', () => {
    const lost = [...posted('a', 500), ...dropped('a', 'answered 500')];
    expect(verified(call('a'), planned('a', 'duplicate'), lost, lost).undelivered.count).toBe(1);
  });

  test.each(['late', 'slow', 'before-ack'])('but a callback that is only %s is', plan => {
    expect(verified(call('a'), planned('a', plan), dropped('a', 'answered 408')).undelivered.count).toBe(1);
  });

  describe('but a plan for one callback does not allow the loss of another one', () => {
    const event = { type: 'subscription_event' };
    const faulty = (plan: string) => planned('a', plan).map(fact => ({ ...fact, ...event }));
    const refused = [...posted('a', 404, event), ...dropped('a', 'answered 404')];
    test.each([
      ['a dropped event', [faulty('drop')]],
      ['an event that was refused because of its fault', [faulty('wrong-id'), refused]],
      ['an event that was accepted despite its fault', [faulty('wrong-id'), posted('a', 200, event)]],
    ])('%s', (_, parts) => {
      expect(verified(call('a'), ...parts, delivered('a')).ok).toBe(true);
      expect(verified(call('a'), ...parts).undelivered.examples).toMatchObject([{ why: 'still pending' }]);
      const lost = [...posted('a', 500), ...dropped('a', 'answered 500')];
      expect(verified(call('a'), ...parts, lost).undelivered.examples).toMatchObject([
        { why: 'answered 500' },
      ]);
    });
  });

  test('a message that looks like a result may be refused or accepted; a result after it is expected', () => {
    const message = planned('a', 'message', 'fixture').map(fact => ({ ...fact, type: 'tool_result' }));
    const refused = [...posted('a', 400), ...dropped('a', 'answered 400')];
    expect(verified(call('a'), message, refused, delivered('a')).ok).toBe(true);
    expect(verified(call('a'), message, refused, planned('a', 'silence', 'fixture')).ok).toBe(true);
    expect(verified(call('a'), message, delivered('a'), refused).ok).toBe(true);
    expect(verified(call('a'), message, refused, refused).undelivered.count).toBe(1);
  });

  test('a thread that is closed after its runtime refused the result excuses nothing', () => {
    const refused = [...posted('a', 500), ...closeNotice()];
    expect(verified(call('a'), refused).undelivered.examples).toMatchObject([{ why: 'still pending' }]);
    const lost = [...posted('a', 'broken'), ...dropped('a', 'the tool was stopped')];
    expect(verified(call('a'), refused, lost).undelivered.count).toBe(1);
    expect(verified(call('a'), refused, delivered('a')).ok).toBe(true);
    expect(verified(call('a'), posted('a', 'broken'), closeNotice(), lost).ok).toBe(true);
  });

  test('the end of another thread does not end ours', () => {
    expect(verified(call('a'), closeNotice('thread_b')).undelivered.count).toBe(1);
  });
});

describe('the acknowledgement', () => {
  test('a fixture that refuses a call counts as used; the refused call is not counted', () => {
    const plan = planned('a', 'ack status').map(fact => ({ ...fact, fixture: 'pay' }));
    expect(verified(invoked('a', { status: 503 }), plan)).toMatchObject({
      ok: true,
      fixtures: [{ id: 'pay', calls: 0, status: 'used' }],
    });
  });

  test('a fixture that refuses the first calls wants one that comes after them (RT-RETRY)', () => {
    const plan = planned('a', 'ack status').map(fact => ({ ...fact, fixture: 'pay' }));
    const faults = { ack: { times: 2 } };
    const verification = new Verification([{ id: 'pay', place: 'tool.yaml:3', faults }]);
    applyFacts(verification, invoked('a', { status: 503 }), plan);
    expect(verification.report()).toMatchObject({
      ok: false,
      fixtures: [{ id: 'pay', calls: 0, status: 'unused', refused: true }],
      problems: ['fixture pay (tool.yaml:3) only refused calls, as its faults say; none came again'],
    });
    applyFacts(verification, invoked('a', { attempt: 2 }), matched('a', 'pay'), delivered('a'));
    expect(verification.report()).toMatchObject({ ok: true, fixtures: [{ calls: 1, status: 'used' }] });
  });

  const refused = [...invoked('a', { status: 503 }), ...matched('a', 'pay')];

  test.each([503, 404, 201, 204])('a call whose invocation was answered %i needs no result', status => {
    const facts = [...invoked('a', { status }), ...matched('a', 'pay')];
    expect(verified(facts)).toMatchObject({ calls: 1, undelivered: { count: 0 } });
  });

  test('a retried invocation belongs to the same call', () => {
    const again = [...invoked('a', { attempt: 2 }), ...matched('a', 'pay')];
    expect(verified(refused, again)).toMatchObject({ calls: 1, undelivered: { count: 1 } });
    expect(verified(refused, again, delivered('a'))).toMatchObject({
      ok: true,
      calls: 1,
      fixtures: [{ calls: 1 }],
    });
  });

  test('a broken response still counts: the call is done, and a retry changes nothing', () => {
    const broken = [...invoked('a', { status: 'broken' }), ...matched('a', 'pay')];
    expect(verified(broken).undelivered.count).toBe(1);
    expect(verified(broken, delivered('a'), invoked('a', { attempt: 2 })).ok).toBe(true);
  });
});

describe('bounds', () => {
  test('counts everything in a long run with little memory', () => {
    const verification = new Verification(FIXTURES);
    const before = memory();
    for (let index = 0; index < 20_000; index++) applyFacts(verification, paid(`call ${index}`));
    expect(verification.report()).toMatchObject({ ok: true, calls: 20_000 });
    expect(memory() - before).toBeLessThan(8 * 1024 * 1024);
  });

  test('recognizes a repeat of a call as long as a mock does', () => {
    const verification = new Verification(FIXTURES);
    for (let index = 0; index < LIMITS.eventsKept.value; index++)
      applyFacts(verification, paid(`call ${index}`));
    applyFacts(verification, invoked('call 0', { attempt: 2 }));
    expect(verification.report()).toMatchObject({ ok: true, calls: LIMITS.eventsKept.value });
  });
});

function memory(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed;
}

describe('a client without callbacks', () => {
  const ask = (key: string): Fact[] => {
    const [request] = invoked(key);
    return request ? [{ ...request, from: 'client', leg: `ask-${key}` } as Fact] : [];
  };
  const answer = (key: string, body: object, status = 200): Fact[] => [
    { kind: 'response', leg: `ask-${key}`, status, headers: {}, body: Content.ofJson(body), calls: [key] },
  ];

  test('gets its result in the response', () => {
    const call = [...ask('a'), ...matched('a', 'pay')];
    expect(verified(call)).toMatchObject({ ok: false, undelivered: { count: 1 } });
    expect(verified(call, answer('a', { content: [], isError: false }))).toMatchObject({
      ok: true,
      calls: 1,
    });
  });

  test.each<[string, object]>([
    ['RAP', { type: 'tool_result', text: 'Error: no such tool' }],
    ['MCP', { content: [{ type: 'text', text: 'no such tool' }], isError: true }],
    ['JSON-RPC', { error: { code: -32602, message: 'no such tool' } }],
  ])('takes the reason of an unmatched call from the response, as in %s', (_, body) => {
    expect(verified(ask('a'), matched('a', null), answer('a', body)).unmatched).toMatchObject({
      count: 1,
      examples: [{ id: 'a', reason: 'no such tool' }],
    });
  });

  test.each<[string, object]>([
    ['not a list', { content: 'x' }],
    ['an empty list', { content: [null] }],
    ['not a text', { content: [{ text: 7 }], error: 'x' }],
  ])('takes no reason from hostile content: %s', (_, body) => {
    const { unmatched } = verified(ask('a'), matched('a', null), answer('a', body));
    expect(unmatched.examples).toEqual([{ operation: 'pay', id: 'a', group_id: 'thread_a' }]);
  });
});
