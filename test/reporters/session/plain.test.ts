import { describe, expect, test } from 'vitest';
import { plainSession } from '../../../src/render/outputs/session.js';
import { createRedactor } from '../../../src/util/redact.js';
import { at, eventsOf, type Moment, OAUTH } from '../../events/build.js';
import {
  answered,
  answers,
  asks,
  awaiting,
  breaks,
  CLIENT_STORY,
  failure,
  LOOKUP,
  NAMELESS,
  posts,
  result,
  status,
  warned,
} from '../../events/session/build.js';
import { callOf, legTo } from '../../render/session/legs.js';
import { tell } from './told.js';

const SECRET = 'token-canary-4711';

const told = (parts: readonly (readonly Moment[])[], isTTY = false, options = {}) =>
  tell(
    (known, paper) => plainSession(known, paper, { level: 0, isTTY, redactor: createRedactor([SECRET]) }),
    eventsOf(...parts),
    options,
  );

test('a whole session: a line for each happening with its time, then the answer whole', async () => {
  const { stdout, stderr } = await told(CLIENT_STORY.map((moments, index) => at(index * 100, moments)));
  expect(stdout).toBe(`  0:00.0 • session session_1 is running
  0:00.2 → waits for 2 calls: lookup_order {"order_id":"A1"} call_1 · lookup_order #1 (no id)
  0:00.3 ✓ lookup_order {"order_id":"A1"} call_1 answered: success shipped after 100ms
  0:00.4 ✗ lookup_order #1 (no id) answered: error Order not found after 200ms
  0:00.6 ✓ 2 results posted, answered 202 in 100ms
  0:00.7 • session session_1 is running
  0:00.8 ✓ session session_1 ended as completed after 800ms: Your order is shipped

ANSWER
Your order is shipped

2 calls: 1 success, 1 error
`);
  expect(stderr).toBe('warning: a note\n');
});

test('with a RAP tool the steps of its leg stand between', async () => {
  const { stdout } = await told([status('running'), awaiting([callOf('call_1')]), ...legTo('call_1')]);
  expect(stdout).toMatch(
    /✓ sent lookup_order to http.*\n.*✓ acknowledged with 200 after .*\n.*✓ result after /,
  );
});

test('of several calls every step says whose it is, the first one too', async () => {
  const two = awaiting([callOf('call_1'), callOf('call_2')]);
  const { stdout } = await told([status('running'), two, ...legTo('call_1')]);
  expect(stdout).toMatch(/✓ call_1: sent lookup_order to http/);
});

test('at the end says how the calls went; those that no answer too', async () => {
  const [one, two] = [callOf('call_1'), callOf('call_2')];
  const { stdout } = await told([
    status('awaiting_tool_results'),
    awaiting([one, two, NAMELESS]),
    answered(one, result(one, 'shipped')),
    [{ kind: 'expired', what: 'timeout', afterMs: 9, calls: ['call_2'], thread: 'session_1' }],
    answered(two, failure(two, 'late')),
    status('failed'),
  ]);
  expect(stdout).toMatch(/\n3 calls: 1 success, 1 timeout, 1 unanswered\n$/);
});

test('-q: the answer of the agent and nothing else', async () => {
  expect(await told(CLIENT_STORY, false, { quiet: true })).toEqual({
    stdout: 'Your order is shipped\n',
    stderr: '',
  });
});

test('warnings are told at the end, once; then what went wrong', async () => {
  const trouble = { code: 'timeout', message: 'nothing new', hint: 'Wait.' } as const;
  const { stdout, stderr } = await told([status('running'), warned('odd'), warned('odd')], false, {
    trouble,
  });
  expect(stdout).not.toContain('odd');
  expect(stderr).toBe('warning: a note\nwarning: odd (2 times)\nerror: nothing new\nhint: Wait.\n');
});

describe('RT-OAUTH: a consent URL whole', () => {
  const story = [
    status('running'),
    awaiting([callOf('call_1')]),
    ...legTo('call_1', { ...OAUTH, id: 'call_1', auth_url: 'https://auth.example/consent?code=canary' }),
  ];

  test('is for the person at the terminal', async () => {
    expect((await told(story, true)).stdout).toContain('code=canary');
  });

  test('and is in no log', async () => {
    const { stdout, stderr } = await told(story);
    expect(stdout).not.toContain('canary');
    expect(stdout).toContain('https://auth.example/consent');
    expect(stderr).toContain('code=canary');
  });
});

test('row 24: nothing foreign reaches a terminal as it is', async () => {
  const evil = '\u001b]0;owned\u0007\u202e\n';
  const call = { key: evil, tool_name: evil, args: { [evil]: evil }, id: evil };
  const { stdout } = await told([
    status(evil),
    awaiting([call]),
    answered(call, failure(call, evil, evil)),
    posts([call]),
    answers(422, { body: { detail: [{ loc: [evil], msg: evil }] } }),
    asks('changes', { leg: 'c', path: `/${evil}` }),
    breaks(evil, { leg: 'c' }),
    status('failed', { error: evil, answer: { [evil]: evil } }),
  ]);
  expect(stdout.split('\n').length).toBeGreaterThan(8);
  expect(stdout).not.toMatch(/[^\P{C}\n]/u);
});

test('row 25: no secret, whoever says it', async () => {
  const { stdout } = await told([
    status('running'),
    awaiting([LOOKUP]),
    answered(LOOKUP, result(LOOKUP, `your token is ${SECRET}`)),
    status('completed', { answer: { [SECRET]: SECRET } }),
  ]);
  expect(stdout).not.toContain(SECRET);
  expect(stdout).toContain('your token is [redacted]');
});

test('what is very long is cut', async () => {
  const long = 'x'.repeat(1_000_000);
  const call = { ...LOOKUP, args: { long } };
  const { stdout } = await told([
    status('running'),
    awaiting([call, NAMELESS]),
    answered(call, result(call, long)),
  ]);
  expect(stdout.length).toBeLessThan(2_000);
});
