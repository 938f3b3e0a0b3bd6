import { describe, expect, test } from 'vitest';
import { RULES } from '../../../src/check/judge.js';
import type { RequirementId } from '../../../src/protocol/requirements.js';
import { checking, findingsIn } from '../support/checking.js';
import { BROKEN_TOOLS } from './broken/index.js';

const TOOL_RULES = Object.values(RULES).filter(rule => 'observe' in rule && rule.side === 'tool');

/** Enough for a busy machine, and as little as the longest of what is broken takes. */
const WINDOW_MS = 2_400;

test.each(TOOL_RULES)('$id has a broken tool', ({ id }) => {
  expect(BROKEN_TOOLS[id]?.length).toBeGreaterThan(0);
});

describe.concurrent.each(TOOL_RULES)(
  '$id is reported, and no rule that it does not mask',
  ({ id, masks = [] }) => {
    // TOOL-ACK measures time, and other tests keep the processors busy.
    test.each(BROKEN_TOOLS[id] ?? [])(
      'for a tool that $does',
      { retry: 2 },
      async ({ start, says, status, options }) => {
        await using tool = await start();
        const checks = await checking(tool.url, { probeTimeoutMs: WINDOW_MS, ...options });
        const findings = findingsIn(checks);
        const own = checks.find(each => each.id === id);
        const others = findings.filter(each => each.id !== id && !masks.includes(each.id));
        expect(others.map(each => `${each.id}: ${each.status}: ${each.reason}`)).toEqual([]);
        expect(own).toMatchObject({ status: status ?? usual(id), reason: expect.stringMatching(says) });
      },
    );
  },
);

function usual(id: RequirementId): string {
  return RULES[id].level === 'MUST' ? 'fail' : 'warn';
}
