import type { FixtureSet } from '../../fixtures/fixture-set.js';
import { readFixtureFiles, textOf } from '../../tool/fixture-files.js';
import { diffWarnings } from './diff-warnings.js';
import { isTranscriptFile, readRecordings, refuseSpeed } from './recordings.js';

export interface LoadedFixtures {
  readonly fixtures: FixtureSet;
  /** What of transcripts could not be read or carried over, and which diffs cannot be drawn. */
  readonly warnings: readonly string[];
}

/**
 * Fixture files and transcripts, the fixtures first.
 * @param speed of transcripts: 2 is twice as fast as it was, 0 is at once
 * @throws ProtocolCliError `unreadable-file`, `invalid-fixtures`; `usage` for a speed without a transcript.
 */
export async function loadFixtures(files: readonly string[], speed?: number): Promise<LoadedFixtures> {
  const read = await readFixtureFiles(files);
  const transcripts = read.filter(isTranscriptFile);
  if (transcripts.length === 0) refuseSpeed(speed);
  const { recordings, warnings } = await readRecordings(transcripts, { speed, isExact: true });
  const texts = read
    .filter(each => !transcripts.includes(each))
    .map(each => ({ path: each.path, text: textOf(each) }));
  const { readFixtures } = await import('../../fixtures/read-fixtures.js');
  const fixtures = await readFixtures(texts, recordings);
  return { fixtures, warnings: [...warnings, ...(await diffWarnings(fixtures))] };
}
