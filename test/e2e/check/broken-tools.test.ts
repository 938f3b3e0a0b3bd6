import { describe, expect, test } from 'vitest';
import { gatherEvidence } from '../../../src/check/evidence.js';
import { checksOf } from '../../../src/check/judge.js';
import type { Check } from '../../../src/check/report.js';
import { RULES } from '../../../src/check/rules/index.js';
import type { Event } from '../../../src/events/events.js';
import type { RequirementId } from '../../../src/protocol/requirements.js';
import { memoizeByObject } from '../../../src/util/collections.js';
import { probing } from '../../probes/probing.js';
import { checking, findingsIn } from '../support/checking.js';
import { acknowledgements } from './broken/acknowledgements.js';
import { callbacks, displays } from './broken/callbacks.js';
import { flows } from './broken/flows.js';
import { refusals, servers } from './broken/refusals.js';
import { type BrokenTool, type BrokenTools, startWithOdd } from './broken/tool.js';

/** For each rule, tools that break it, and as little else as can be. */
const BROKEN_TOOLS: BrokenTools = {
  ...acknowledgements,
  ...callbacks,
  ...refusals,
  ...displays,
  ...flows,
  ...servers,
};

const TOOL_RULES = Object.values(RULES).filter(rule => 'observe' in rule && rule.side === 'tool');

/** All probes for each tool take half a minute: that is for changes to rules and probes. */
const IS_FULL = process.env['ALL_PROBES'] !== undefined;

/** Every tool meets valid calls (late ones again alone), the probes of its rule and a part of the others, every probe several tools. */
const PARTS = 16;

/** The rules whose probes a tool meets. */
function wantsFor(own: RequirementId): (id: RequirementId) => boolean {
  const partOf = (rule: RequirementId) => TOOL_RULES.findIndex(({ id }) => id === rule) % PARTS;
  return id => IS_FULL || id === own || id === 'TOOL-ACK' || partOf(id) === partOf(own);
}

/** As long as the slowest of these tools needs: its first acknowledgement takes 1.5 s. */
const WINDOW_MS = 2_000;

test.each(TOOL_RULES)('$id has a broken tool', ({ id }) => {
  expect(BROKEN_TOOLS[id]?.length).toBeGreaterThan(0);
});

const ODD = Object.values(BROKEN_TOOLS)
  .flat()
  .flatMap(({ fixture }, index) => (fixture ? [[`odd_${index}`, fixture] as const] : []));

/** A check calls at most 25 operations. */
const MOST = 24;

/** The operations that break a rule on their own, in a few tools. */
const ODD_TOOLS = Array.from({ length: Math.ceil(ODD.length / MOST) }, (_, index) =>
  Object.fromEntries(ODD.slice(index * MOST, (index + 1) * MOST)),
);

/** One check of a tool with such operations. */
async function probingOdd(odd: Readonly<Record<string, object>>) {
  await using tool = await startWithOdd(odd);
  return await probing(tool.url, { probeTimeoutMs: WINDOW_MS });
}

const together = memoizeByObject(probingOdd);

/** The rows of a check in which no other odd operation was called. */
async function checkingAlone(fixture: object, isRetry: boolean): Promise<readonly Check[]> {
  const odd = ODD_TOOLS.find(each => Object.values(each).includes(fixture)) ?? {};
  const { events, evidence } = await (isRetry ? probingOdd(odd) : together(odd));
  const others = new Set(
    evidence.calls
      .filter(({ tool }) => tool && tool.name in odd && odd[tool.name] !== fixture)
      .map(({ key }) => key),
  );
  const isAlone = ({ calls = [] }: Event) => !calls.some(key => others.has(key));
  return checksOf('tool', [await gatherEvidence({ events: events.filter(isAlone) }, 'tool')]);
}

async function checkingTool(
  id: RequirementId,
  { start, fixture = {}, options }: BrokenTool,
  isRetry: boolean,
): Promise<readonly Check[]> {
  if (!start) return checkingAlone(fixture, isRetry);
  await using tool = await start();
  const checks = await checking(tool.url, { probeTimeoutMs: WINDOW_MS, wants: wantsFor(id), ...options });
  await expectToFailAgain(tool.url, checks, options);
  return checks;
}

/** A repetition makes every call that the verdict rests on: what a tool does each time is not flaky. */
async function expectToFailAgain(
  url: string,
  checks: readonly Check[],
  options: BrokenTool['options'] = {},
): Promise<void> {
  const failed = checks.filter(({ status }) => status === 'fail');
  if (failed.length === 0) return;
  const repetition = { probeTimeoutMs: WINDOW_MS, ...options, repeats: failed };
  const again = await checking(url, repetition).catch(() => null); // null: the tool is gone
  const ids = failed.map(each => each.id);
  const others = again?.filter(({ id, status }) => ids.includes(id) && status !== 'fail') ?? [];
  expect(others.map(each => `${each.id}: ${each.status}: ${each.reason}`)).toEqual([]);
}

test.concurrent.each(ODD_TOOLS.map(odd => ({ odd })))(
  'a tool with odd operations fails the same rules again',
  async ({ odd }) => {
    const { evidence } = await together(odd);
    await using tool = await startWithOdd(odd);
    await expectToFailAgain(tool.url, checksOf('tool', [evidence]));
  },
);

describe.concurrent.each(TOOL_RULES)(
  '$id is reported, and no rule that it does not mask',
  ({ id, masks = [] }) => {
    // TOOL-ACK measures time, and other tests keep the processors busy.
    test.for(BROKEN_TOOLS[id] ?? [])('for a tool that $does', { retry: 2 }, async (tool, { task }) => {
      const checks = await checkingTool(id, tool, (task.result?.retryCount ?? 0) > 0);
      const own = checks.find(each => each.id === id);
      const isShown = ({ status }: Check) => IS_FULL || status !== 'could-not-run'; // its probes were left out
      const found = findingsIn(checks).filter(isShown);
      const others = found.filter(each => each.id !== id && !masks.includes(each.id));
      expect(others.map(each => `${each.id}: ${each.status}: ${each.reason}`)).toEqual([]);
      const { status = usual(id), says } = tool;
      expect(own).toMatchObject({ status, reason: expect.stringMatching(says) });
    });
  },
);

function usual(id: RequirementId): string {
  return RULES[id].level === 'MUST' ? 'fail' : 'warn';
}
