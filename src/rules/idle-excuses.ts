import type { ExpectedFailure } from '../fixtures/expected-failures/expected-failure.js';
import { REQUIREMENTS, type Side } from '../protocol/requirements.js';
import type { Check } from './judge.js';
import { UNOBSERVABLE } from './rules.js';

/** A failure that is expected where there was none to see. */
export interface IdleExcuse extends ExpectedFailure {
  /** The end of a sentence that begins with its id. */
  readonly why: string;
}

/** The entries that excuse nothing in this run: whoever wrote them believes that something is watched, and it is not. */
export function idleExcuses(
  excuses: readonly ExpectedFailure[],
  checks: readonly Check[],
  sides: readonly Side[],
): readonly IdleExcuse[] {
  return excuses.flatMap(excuse => {
    const why = whyIdle(
      excuse,
      checks.find(({ id }) => id === excuse.id),
      sides,
    );
    return why === null ? [] : [{ ...excuse, why }];
  });
}

function whyIdle({ id }: ExpectedFailure, check: Check | undefined, sides: readonly Side[]): string | null {
  const { side } = REQUIREMENTS[id];
  const unseen = UNOBSERVABLE[id];
  if (!sides.includes(side)) return `is a rule of the ${side}, and the ${sides.join(', ')} alone is judged`;
  if (unseen !== undefined) return `can never fail: ${unseen}`;
  if (!check) return 'was not judged: it is not among the rules that were asked for';
  return check.status === 'not-applicable' ? `did not apply: ${check.reason}` : null;
}
