import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { Check } from '../../../src/check/report.js';
import { openRuntime } from '../../peers/runtime.mjs';
import { findingsIn } from '../support/checking.js';
import { startHere } from '../support/in-process.js';
import { startMockHere } from '../support/mock.js';

/** A tool that does everything well: each rule that can be seen passes. */
const TOOL = fileURLToPath(new URL('sound/tool.yaml', import.meta.url));
const CASES = fileURLToPath(new URL('sound/cases.yaml', import.meta.url));

test('a correct tool passes every rule, with every flow', async () => {
  const tool = await startMockHere([TOOL, '-q']);
  await using person = await openRuntime();
  const run = startHere(['check', tool.url, '--cases', CASES, '--reporter', 'json']);
  await person.visitConsent(await run.prints(/http:\S+authorize\S+/), 'grant');
  const { status, stdout } = await run.ended;
  await tool.stop();
  const { checks, cases, verdict } = JSON.parse(stdout);
  const seen: Check[] = checks.filter((check: Check) => check.id !== 'TOOL-RATE');
  expect(seen.map(({ status: each }) => each)).not.toContain('not-applicable');
  expect(findingsIn(seen).map(lineOf)).toEqual([]);
  expect(seen).toHaveLength(31);
  expect(cases.filter((each: Check) => each.status !== 'pass')).toEqual([]);
  expect({ verdict, status }).toEqual({ verdict: 'passed', status: 0 });
});

const lineOf = ({ id, status, reason }: Check) => `${id}: ${status}: ${reason}`;
