import type { Pane } from '../../../story/pane.js';
import { paneHeading } from '../../../story/pane-lines.js';
import { type Look, paneDocument } from '../../document/index.js';
import { Memo } from './memo.js';
import type { Part } from './sheet.js';

/** Draws a pane as a part, once for each look: a text is the same under each. */
export function panePart(pane: Pane): (look: Look) => Part {
  const kept = new Memo<Part>();
  return look => {
    const { isSplit, isUnfolded, highlighter } = look;
    const from = pane.drawing.kind === 'diff' ? [isSplit, isUnfolded, highlighter] : [];
    return kept.of(from, () => ({ title: paneHeading(pane), document: paneDocument(pane, look), pane }));
  };
}
