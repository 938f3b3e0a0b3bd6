import { describe, expect, test } from 'vitest';
import { gatherEvidence } from '../../src/check/evidence.js';
import { checksOf } from '../../src/check/judge.js';
import { RULES } from '../../src/check/rules/index.js';
import { warningsOf } from '../../src/render/warnings.js';
import { fold } from '../events/build.js';
import { SAMPLES } from './samples/index.js';

const OBSERVABLE = Object.values(RULES).filter(rule => 'observe' in rule);

test.each(OBSERVABLE)('$id has a sample that passes, and one that does not', ({ id }) => {
  const statuses = (SAMPLES[id] ?? []).map(({ status }) => status);
  expect(statuses).toContain('pass');
  expect(statuses.some(status => status === 'fail' || status === 'warn' || status === 'could-not-run')).toBe(
    true,
  );
});

describe.each(OBSERVABLE)('$id', rule => {
  test.each(SAMPLES[rule.id] ?? [])(
    '$status: $title',
    async ({ events, observer = 'runtime', isLossy, status, says }) => {
      const evidence = await gatherEvidence({ events, observer, isWhole: !isLossy }, rule.side);
      const [check = expect.unreachable()] = checksOf(rule.side, [evidence], { only: new Set([rule.id]) });
      expect(check).toMatchObject({ id: rule.id, status });
      if (says) expect(check.reason).toMatch(says);
      if (status !== 'not-applicable' && status !== 'could-not-run')
        expect(check.events.length).toBeGreaterThan(0);
    },
  );
});

const withEvents = (SAMPLES['TOOL-SUB'] ?? []).filter(
  ({ status, events }) =>
    (status === 'pass' || status === 'fail') &&
    events.some(each => each.kind === 'request' && each.body?.messageType === 'subscription_event'),
);

test.each(withEvents)(
  'TOOL-SUB: `invoke` warns of the events that `check` accuses, and of no others: $title',
  ({ events, status }) => {
    const history = fold(events);
    const ids = [...history.exchanges.values()]
      .flatMap(exchange => warningsOf(history, exchange))
      .map(({ id }) => id);
    expect(ids.includes('TOOL-SUB')).toBe(status === 'fail');
  },
);
