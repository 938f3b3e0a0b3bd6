import type { FixtureSet } from '../../fixtures/fixture-set.js';
import type { Step } from '../../fixtures/step.js';
import { stepsOf } from '../../fixtures/steps-of.js';
import { isRecord } from '../../text/is-record.js';
import { visibleLine } from '../../text/visible.js';

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
  const { diffKind } = await import('../../display/segments/diff.js');
  const { readView } = await import('../../display/views.js');
  return written.flatMap(({ place, path, content }) => {
    const isView = path === VIEW && isRecord(content);
    const reading = isView ? readView({ type: 'diff', content }) : diffKind.read(content);
    const fault = reading.ok ? reading.complaint : `${reading.reason}; ${INSTEAD}`;
    return fault === undefined ? [] : [visibleLine(`${place} ${path}: ${fault} (TOOL-DIFF)`)];
  });
}

const VIEW = 'view.content';
const INSTEAD = 'no client draws it, and a person sees what comes after it';

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
