import { beforeAll, describe, expect, test } from 'vitest';
import { SCENARIOS } from '../../../src/check/drive/run.js';
import { LEGAL_AGENTS, runAgent } from '../../peers/agents/legal.mjs';
import { LEGAL, runLegal } from '../../peers/drivers/legal.mjs';
import { agentHere, checksOfRuntimes, driverHere, verdicts } from '../support/drivers.js';

/**
 * Right runtimes and agents that use what HTTP, JSON and the protocol allow: no rule fails, warns or cannot run. With `ALL_SCENARIOS=1`, as
 * in CI, all scenarios run; else two that the peculiarity could disturb: the first, and one of the others, a different one for each row.
 */
const isWhole = process.env['ALL_SCENARIOS'] === '1';

/** Scenarios mostly wait. */
const AT_ONCE = isWhole ? 48 : 32;

/** As long as users wait. */
const WINDOW_MS = 5_000;

const rows = (peculiarities: Readonly<Record<string, { readonly disturbs: readonly string[] }>>) =>
  Object.entries(peculiarities).map(([name, { disturbs }]) => ({ name, disturbs }));

const players = [
  ...rows(LEGAL).map(row => ({ ...row, open: driverHere(streams => runLegal(row.name, streams)) })),
  ...rows(LEGAL_AGENTS).map(row => ({ ...row, open: agentHere(agent => runAgent(row.name, agent)) })),
];

function scenariosFor([first = '', ...others]: readonly string[], place: number) {
  const names = [first, others[place % others.length]];
  return SCENARIOS.filter(({ name }) => isWhole || names.includes(name));
}

const findings = new Map<(typeof players)[number]['open'], ReturnType<typeof verdicts>>();

beforeAll(async () => {
  const playing = players.map(({ open, disturbs }, place) => ({
    open,
    scenarios: scenariosFor(disturbs, place),
  }));
  const checks = await checksOfRuntimes(playing, { atOnce: AT_ONCE, windowMs: WINDOW_MS });
  for (const [index, { open }] of players.entries())
    findings.set(open, verdicts(checks[index] ?? [], 'fail', 'warn', 'could-not-run'));
}, 900_000);

test('there are at least thirty, and each names scenarios that exist', () => {
  expect(players.length).toBeGreaterThanOrEqual(30);
  const known = SCENARIOS.map(({ name }) => name);
  expect(players.flatMap(({ disturbs }) => disturbs.filter(name => !known.includes(name)))).toEqual([]);
});

const drivers = players.slice(0, Object.keys(LEGAL).length);

describe('no finding about a right', () => {
  test.each(drivers)('runtime: $name', ({ open }) => {
    expect(findings.get(open)).toEqual([]);
  });

  test.each(players.slice(drivers.length))('agent: $name', ({ open }) => {
    expect(findings.get(open)).toEqual([]);
  });
});
