import { describe, expect, test } from 'vitest';
import { plainSession } from '../../../src/render/outputs/session.js';
import { createRedactor } from '../../../src/util/redact.js';
import { eventsOf, type Moment, OAUTH } from '../../events/build.js';
import {
  answered,
  answers,
  asks,
  awaiting,
  breaks,
  CLIENT_STORY,
  failure,
  LOOKUP,
  posts,
  result,
  status,
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

test('-q: the answer of the agent and nothing else', async () => {
  expect(await told(CLIENT_STORY, false, { quiet: true })).toEqual({
    stdout: 'Your order is shipped\n',
    stderr: '',
  });
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

test('row 25: no secret, anyone who says it', async () => {
  const { stdout } = await told([
    status('running'),
    awaiting([LOOKUP]),
    answered(LOOKUP, result(LOOKUP, `your token is ${SECRET}`)),
    status('completed', { answer: { [SECRET]: SECRET } }),
  ]);
  expect(stdout).not.toContain(SECRET);
  expect(stdout).toContain('your token is [redacted]');
});
