import type { Pane } from '../../../story/pane.js';
import { paneHeading } from '../../../story/pane-lines.js';
import { Memo } from '../../../text/memo.js';
import { type Document, type Look, paneDocument } from '../../document/index.js';
import type { Part } from './sheet.js';

/** Draws a pane as a part, once for each look: a text is the same under each. */
export function panePart(pane: Pane): (look: Look) => Part {
  const whole = new Memo<Part>();
  const split = new Memo<Part>();
  return look => {
    const { isSplit, isUnfolded, highlighter } = look;
    if (pane.drawing.kind !== 'diff') return whole.of([], () => partOf(pane, look));
    return (isSplit ? split : whole).of([isUnfolded, highlighter], () => partOf(pane, look));
  };
}

/** Nothing is laid out before it is read: how wide a part is, and so how it looks, depends on how many there are. */
function partOf(pane: Pane, look: Look): Part {
  let made: Document | null = null;
  return {
    title: paneHeading(pane),
    pane,
    get document() {
      made ??= paneDocument(pane, look);
      return made;
    },
  };
}
