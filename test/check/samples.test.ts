import { describe, expect, test } from 'vitest';
import { gather } from '../../src/check/evidence/seen-from.js';
import { judge } from '../../src/check/judge.js';
import { RULES, UNOBSERVABLE } from '../../src/check/rules/all.js';
import { REQUIREMENTS } from '../../src/protocol/requirements.js';
import { SAMPLES } from './samples/index.js';

test('each requirement has a rule, or a reason why nobody can judge it', () => {
  const judged = [...RULES.keys(), ...Object.keys(UNOBSERVABLE)].sort();
  expect(judged).toEqual(Object.keys(REQUIREMENTS).sort());
});

test.each([...RULES.keys()])('%s has a sample that passes, and one that does not', id => {
  const statuses = (SAMPLES[id] ?? []).map(({ status }) => status);
  expect(statuses).toContain('pass');
  expect(statuses.some(status => status === 'fail' || status === 'warn' || status === 'could-not-run')).toBe(
    true,
  );
});

describe.each([...RULES.values()])('$id', rule => {
  test.each(SAMPLES[rule.id] ?? [])(
    '$status: $story',
    async ({ events, observer, isLossy, status, says }) => {
      const evidence = await gather(events, observer ?? 'runtime', REQUIREMENTS[rule.id].side, !isLossy);
      const check = judge(rule, evidence);
      expect(check).toMatchObject({ id: rule.id, status });
      if (says) expect(check.reason).toMatch(says);
      if (status !== 'not-applicable' && status !== 'could-not-run')
        expect(check.events.length).toBeGreaterThan(0);
    },
  );
});
