import { beforeAll, expect, test } from 'vitest';
import { REQUIREMENT_IDS } from '../../../src/protocol/requirements.js';
import { forEachConcurrently } from '../../../src/util/collections.js';
import { messageOf } from '../../../src/util/errors.js';
import { LEGAL } from '../../peers/tools/legal.mjs';
import { peculiarTool } from '../../peers/tools/peculiar.mjs';
import { checking, findingsIn } from '../support/checking.js';
import { servePeer } from '../support/serve-peer.js';

/**
 * Right tools that use what HTTP, JSON and the protocol allow: no rule fails, warns or cannot run. With `ALL_PROBES=1` all probes run, else
 * those that the peculiarity could disturb.
 */
const isWhole = process.env['ALL_PROBES'] === '1';

/** Checks mostly wait. */
const CONCURRENCY = isWhole ? 8 : 16;

const findings = new Map<string, readonly string[]>();

async function findingsAbout(PECULIARITY: string, disturbs: readonly string[]): Promise<readonly string[]> {
  const peer = await servePeer(peculiarTool({ PECULIARITY }));
  try {
    const wants = (id: string) => isWhole || disturbs.includes(id);
    const checks = await checking(peer.url, { wants });
    return findingsIn(checks.filter(({ id }) => wants(id))).map(
      ({ id, status, reason }) => `${id} ${status}: ${reason}`,
    );
  } catch (error) {
    return [messageOf(error)];
  } finally {
    await peer.stop();
  }
}

beforeAll(
  () =>
    forEachConcurrently(Object.entries(LEGAL), CONCURRENCY, async ([name, { disturbs }]) => {
      findings.set(name, await findingsAbout(name, disturbs));
    }),
  900_000,
);

test('there are at least thirty, and each names rules that exist', () => {
  const all = Object.values(LEGAL);
  expect(all.length).toBeGreaterThanOrEqual(30);
  const known: readonly string[] = REQUIREMENT_IDS;
  expect(all.flatMap(({ disturbs }) => disturbs.filter(id => !known.includes(id)))).toEqual([]);
});

test.each(Object.keys(LEGAL))('no finding about a right tool: %s', name => {
  expect(findings.get(name)).toEqual([]);
});
