import { describe, expect, test } from 'vitest';
import { checkTranscript } from '../../../src/check/judge.js';
import type { RequirementId } from '../../../src/protocol/requirements.js';
import { ROOT } from '../support/program.js';
import { pythonRuntime } from '../support/python-runtime.js';
import { brokenIn } from './runtimes/broken-runtime.js';
import { OCCASIONS, seenByMock } from './runtimes/seen-by-tool.js';

/** What is said of the runtime on Python's standard library, which shares no code with us; each finding is true by its own source. */

const runtime = pythonRuntime();

const SCENARIOS = `${ROOT}test/peers/scenarios.yaml`;

async function verdictsOn(fixtures: string, ...words: string[]) {
  const events = await seenByMock(fixtures, url => runtime(url, ...words));
  const { checks } = await checkTranscript(events, { sides: ['runtime'], observer: 'tool' });
  const passed = checks.filter(({ status }) => status === 'pass').map(({ id }) => id);
  return { passed, broken: await brokenIn(events, 'tool') };
}

const CALLING: readonly RequirementId[] = ['RT-OP', 'RT-ARGS', 'RT-ID', 'RT-FIELDS'];

describe.concurrent('stdlib_runtime.py', () => {
  test.each<[string, RequirementId[]]>([
    ['result', []],
    ['sequence', []],
    ['choice', ['RT-CHOICE', 'RT-PENDING']],
    ['oauth-grant', ['RT-PENDING']],
    ['subscription', ['RT-SUB']],
    ['cancel', ['RT-NOTIFY']],
    ['close', ['RT-NOTIFY']],
    ['error', []],
  ])('passes: %s', async (scenario, more) => {
    const { passed, broken } = await verdictsOn(SCENARIOS, scenario);
    expect(broken).toEqual([]);
    expect(passed).toEqual(expect.arrayContaining([...CALLING, ...more]));
  });

  test.each<[string, RequirementId]>([
    ['unknown-operation', 'RT-OP'],
    ['bad-arguments', 'RT-ARGS'],
    ['malformed', 'RT-FIELDS'],
  ])('breaks a rule on purpose: %s', async (scenario, id) => {
    expect((await verdictsOn(SCENARIOS, scenario)).broken).toEqual([id]);
  });

  test.each<[string, readonly RequirementId[]]>([
    ['garbled', ['RT-VALIDATE']],
    ['mistaken', ['RT-MATCH']],
    ['twice', []],
    ['refuse', []],
    ['paint', []],
  ])(
    'answers 200 to every post to a known path (`CallbackHandler.do_POST`): %s',
    async (operation, broken) => {
      expect((await verdictsOn(OCCASIONS, 'result', operation)).broken).toEqual(broken);
    },
  );
});
