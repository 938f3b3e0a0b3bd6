import { describe, expect, test } from 'vitest';
import { RULES } from '../../../src/check/judge.js';
import { OWN } from './runtimes/own.js';
import { FAILING, findingsBetween, RECORDED } from './runtimes/recorded.js';
import { choose, findingsOn, SEEN_BY_TOOL } from './runtimes/seen-by-tool.js';

/** Those that messages alone show; the others need a driver, or the runtime's own log. */
const RUNTIME_RULES = Object.values(RULES).filter(
  rule => 'observe' in rule && rule.side === 'runtime' && !rule.needs && rule.id !== 'RT-AUDIT',
);

/** Whole runtimes, judged by what a mock saw of them, or a recorder, or they themselves. */
const BROKEN = [...SEEN_BY_TOOL, ...RECORDED, ...OWN];

test.each(RUNTIME_RULES)('$id has a broken runtime', ({ id }) => {
  expect(BROKEN.map(({ breaks }) => breaks)).toContain(id);
});

describe.concurrent('a runtime', () => {
  test.each(BROKEN)('that $does breaks $breaks, and no other rule', async ({ breaks, findings }) => {
    expect(await findings()).toEqual([breaks]);
  });

  test('that is correct passes, seen from the tool', async () => {
    const findings = findingsOn(async (runtime, url) => {
      const read = await runtime.invoke(url, 'read', { line: 1 });
      const twice = await runtime.invoke(url, 'twice', {});
      await Promise.all([read.result(), twice.next().then(() => twice.next())]);
      for (const [operation, status] of [
        ['garbled', 400],
        ['mistaken', 404],
        ['paint', 200],
      ] as const)
        await (await runtime.invoke(url, operation, {}, { answers: [status] })).next();
      await (await runtime.invoke(url, 'watch', {})).waitFor('subscription_event');
      await runtime.invoke(url, 'refuse', {});
      await choose(runtime, url, 1);
    });
    expect(await findings).toEqual([]);
  });

  test('whose notices fail once passes', async () => {
    const findings = findingsBetween(FAILING, async (runtime, url) => {
      await runtime.cancel(url, 'thread_1', 'call_1');
      await runtime.cancel(url, 'thread_1', 'call_2');
      await runtime.closeThread(url, 'thread_1');
    });
    expect(await findings).toEqual([]);
  });
});
