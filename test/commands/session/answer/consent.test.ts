import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { governing, observe } from '../../../../src/commands/session/answer.js';
import type { AnswerPlan } from '../../../../src/commands/session/answer-plan.js';
import type { Terminal } from '../../../../src/commands/terminal.js';
import { systemClock } from '../../../../src/system/clock.js';

const DELETE = { name: 'delete_all', annotations: { destructive: true } };

const { signal } = new AbortController();

function at(isTTY: boolean, answers = '') {
  const stdin = Object.assign(new PassThrough(), { isTTY });
  const stderr = Object.assign(new PassThrough(), { isTTY });
  stdin.end(answers);
  return {
    terminal: { stdin, stderr, interrupt: () => {} } as unknown as Terminal,
    signal,
    aside: <T>(work: () => Promise<T>) => work(),
  };
}

test('without a terminal the answer is no', async () => {
  const denial = await governing({ policy: null, yes: false }, at(false))(DELETE, {});
  expect(denial).toEqual({ by: 'policy', reason: expect.stringMatching(/destructive.*only a terminal/) });
});

test('the policy says no before the user is asked, and yes to the rest', async () => {
  const may = governing({ policy: { version: 1, deny: ['delete_*'] }, yes: true }, at(false));
  expect(await may(DELETE, {})).toMatchObject({ by: 'policy', reason: 'the policy denies delete_*' });
  expect(await may({ name: 'read' }, {})).toBeNull();
});

test('a person is asked about one call after the other', async () => {
  const place = at(true, 'y\n');
  let asking = 0;
  const most = { once: 0 };
  const aside = async <T>(work: () => Promise<T>) => {
    most.once = Math.max(most.once, ++asking);
    return work().finally(() => asking--);
  };
  const may = governing({ policy: null, yes: false }, { ...place, aside });
  const [first, second] = await Promise.all([may(DELETE, { path: 'a' }), may(DELETE, { path: 'b' })]);
  expect(first).toBeNull();
  expect(second).toMatchObject({ by: 'person' }); // without second line
  expect(most.once).toBe(1);
});

test('a question hides the key that a platform put into the arguments (row 25)', async () => {
  const key = 'KEY-CANARY-0815';
  const place = at(true, 'n\n');
  const plan = { key, output: 'plain', flags: { color: false } } as unknown as AnswerPlan;
  const terminal = { ...place.terminal, stdout: new PassThrough(), env: {} } as unknown as Terminal;
  const observation = await observe(plan, terminal, systemClock);
  await governing({ policy: null, yes: false }, { ...place, terminal: observation.terminal })(DELETE, {
    key,
  });
  const shown = String((place.terminal.stderr as unknown as PassThrough).read());
  expect(shown).toContain('delete_all({"key":"[redacted]"}) is marked destructive');
  expect(shown).not.toContain(key);
});
