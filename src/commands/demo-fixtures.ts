import { readFile } from 'node:fs/promises';
import type { FixtureSet } from '../fixtures/fixture-set.js';
import { shippedFile } from '../package-root.js';

/** The toolset that comes with the program. */
export async function demoFixtures(): Promise<FixtureSet> {
  const { parseFixtures } = await import('../fixtures/parse-fixtures.js');
  return parseFixtures(JSON.parse(await readFile(shippedFile('fixtures/demo.json'), 'utf8')), 'demo.json');
}
