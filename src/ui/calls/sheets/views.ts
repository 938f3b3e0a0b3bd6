import type { Highlighter } from '../../../display/syntax/highlighter.js';
import type { View } from '../../../exchange/thread.js';
import type { Line } from '../../../story/line.js';
import { say } from '../../../story/spans.js';
import { viewPane } from '../../../story/view-pane.js';
import { Memo } from '../../../text/memo.js';
import { onceEach } from '../../../text/once-each.js';
import { linesDocument } from '../../document/index.js';
import { panePart } from './pane-part.js';
import type { Part, Sheet, SheetLook } from './sheet.js';

/** Views as they are now, each a part (RT-VIEW). @param none what is said where there are none */
export function viewsSheet(
  highlighter: () => Highlighter | null,
  none: string,
): (views: Iterable<View>, look: SheetLook) => Sheet {
  const sheets = new Memo<Sheet>();
  const drawOf = onceEach((view: View) => panePart(viewPane(view)));
  const empty: readonly Part[] = [
    { title: TITLE, document: linesDocument([[say(none, 'dim')]]), pane: null },
  ];
  return (views, look) => {
    const drawn = Array.from(views, view => drawOf(view)({ ...look, highlighter: highlighter() }));
    const parts = drawn.length > 0 ? drawn : empty;
    return sheets.of(parts, () => ({ parts }));
  };
}

const TITLE: Line = [say('VIEWS', 'title')];
