import { picturesIn } from '../../text/visible.js';
import type { Hidden } from './model.js';

/** Nobody learns from a longer list. */
const NAMED = 3;

/** Counts what nobody would see in these texts, and what would act on a terminal. */
export function hiddenIn(...texts: readonly string[]): Hidden {
  const pictures = new Set<string>();
  let count = 0;
  for (const text of texts)
    for (const picture of picturesIn(text)) {
      count++;
      if (pictures.size < NAMED) pictures.add(picture);
    }
  return { count, pictures: [...pictures] };
}
