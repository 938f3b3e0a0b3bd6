import { type FixtureSet, stepsOf } from '../../fixtures/fixture-set.js';
import type { Step } from '../../fixtures/schema/reply.js';
import { readFixtureFiles, textOf } from '../../mock/fixture-files.js';
import { isRecord } from '../../util/json-diagnosis.js';
import { visibleLine } from '../../util/visible.js';
import { isTranscriptFile, readRecordings, refuseSpeed } from './recordings.js';

/**
 * Diffs of fixtures that are none, or whose hunks have wrong counts (TOOL-DIFF): their author would wonder why a person sees text
 * instead. Those that only a call completes are left to whoever draws them.
 */
export async function diffWarnings({ fixtures }: Pick<FixtureSet, 'fixtures'>): Promise<string[]> {
  const written = fixtures.flatMap(fixture =>
    stepsOf(fixture)
      .flatMap(diffsIn)
      .map(diff => ({ ...diff, place: fixture.place })),
  );
  if (written.length === 0) return [];
  const { diffKind } = await import('../../display/segments.js');
  const { readView } = await import('../../display/segments.js');
  return written.flatMap(({ place, path, content }) => {
    const isView = path === VIEW && isRecord(content);
    const reading = isView ? readView({ type: 'diff', content }) : diffKind.read(content);
    const fault = reading.ok ? reading.complaint : `${reading.reason}; ${INSTEAD}`;
    return fault === undefined ? [] : [visibleLine(`${place} ${path}: ${fault} (TOOL-DIFF)`)];
  });
}

const VIEW = 'view.content';
const INSTEAD = 'clients cannot show it and show the next segment instead';

interface WrittenDiff {
  readonly path: string;
  readonly content: unknown;
}

function diffsIn(step: Step): WrittenDiff[] {
  if (step.kind === 'view') {
    const { view_type: type, content } = step.view;
    const isShown = type === 'diff' && Object.keys(content).length > 0;
    return isShown ? whole({ path: VIEW, content }) : [];
  }
  const segments: unknown = step.kind === 'result' ? step.result['display_as'] : undefined;
  if (!Array.isArray(segments)) return [];
  return segments.flatMap((segment: unknown, index) =>
    isRecord(segment) && segment['type'] === 'diff'
      ? whole({ path: `result.display_as[${index}].content`, content: segment['content'] })
      : [],
  );
}

/** A patch that is still to be made, of two texts or by a template that decides what a line is, cannot be read yet. */
function whole(diff: WrittenDiff): WrittenDiff[] {
  const { content } = diff;
  const patch = isRecord(content) ? content['patch'] : content;
  const isMade = isRecord(content) && ('before' in content || 'after' in content);
  return isMade || (typeof patch === 'string' && OPEN.test(patch)) ? [] : [diff];
}

const OPEN = /^(?:@@.*)?\{\{/m;

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
