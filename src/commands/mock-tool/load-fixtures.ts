import type { FixtureSet } from '../../fixtures/fixture-set.js';
import { readFixtureFiles } from './fixture-files.js';

/** @throws ProtocolCliError `unreadable-file`, `invalid-fixtures`. */
export async function loadFixtures(files: readonly string[]): Promise<FixtureSet> {
  const { readFixtures } = await import('../../fixtures/read-fixtures.js');
  return readFixtures(await readFixtureFiles(files));
}
