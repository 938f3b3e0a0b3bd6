import { excerpt } from '../../text/excerpt.js';
import { countAcross } from '../document/index.js';
import type { Part } from './sheets/sheet.js';

/** Somewhere that is not searched now. */
export interface Somewhere {
  readonly title: string;
  /** The key that goes there. */
  readonly key: string;
  readonly parts: readonly Part[];
}

/** Where else there is what was not found here, and how to get there; null where it is nowhere else. */
export function elsewhere(wanted: string, here: Part, places: Iterable<Somewhere>): string | null {
  for (const { title, key, parts } of places) {
    const count = countAcross(
      parts.map(({ document }) => document),
      wanted,
    );
    if (count !== null)
      return `${excerpt(wanted)} is not in ${titleOf(here)}; ${count} in ${title}: ${key}, then n`;
  }
  return null;
}

/** The other parts of the same sheet. */
export function partsBeside(parts: readonly Part[], here: number): readonly Somewhere[] {
  return parts.flatMap((part, index) =>
    index === here ? [] : [{ title: titleOf(part), key: index > here ? 'Tab' : 'Shift-Tab', parts: [part] }],
  );
}

/** Its first word. */
function titleOf({ title }: Part): string {
  return title[0]?.text ?? '';
}
