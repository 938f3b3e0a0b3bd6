import { diffWordsWithSpace } from 'diff';

export interface Mark {
  readonly text: string;
  readonly changed: boolean;
}

export interface WordMarks {
  readonly removed: readonly Mark[];
  readonly added: readonly Mark[];
}

/** More edits than this and the search costs too much (13 ms at 200, 700 ms unbounded, for 1,000 words). */
const MAX_EDITS = 200;
/** Below this share of common text the two lines are strangers, and marks would only be noise. */
const KINSHIP = 0.4;

/** Which words changed between a removed line and the added line in its place. Without kinship nothing is marked. */
export function wordMarks(removed: string, added: string): WordMarks {
  const changes = diffWordsWithSpace(removed, added, { maxEditLength: MAX_EDITS }) ?? [];
  const common = changes.filter(change => !change.added && !change.removed);
  if (2 * weigh(common) < KINSHIP * (removed.trim().length + added.trim().length) || changes.length === 0)
    return { removed: unmarked(removed), added: unmarked(added) };
  return {
    removed: changes
      .filter(change => !change.added)
      .map(({ value, removed: changed }) => ({ text: value, changed })),
    added: changes
      .filter(change => !change.removed)
      .map(({ value, added: changed }) => ({ text: value, changed })),
  };
}

/** Blanks are common to all code, so they prove nothing. */
function weigh(changes: readonly { readonly value: string }[]): number {
  return changes.reduce((sum, { value }) => sum + value.trim().length, 0);
}

function unmarked(text: string): Mark[] {
  return text === '' ? [] : [{ text, changed: false }];
}
