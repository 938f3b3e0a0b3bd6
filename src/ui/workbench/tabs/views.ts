import type { View } from '../../../exchange/thread.js';
import type { Line } from '../../../story/line.js';
import { say } from '../../../story/spans.js';
import { viewPane } from '../../../story/view-pane.js';
import { Memo } from '../../../text/memo.js';
import { onceEach } from '../../../text/once-each.js';
import { panePart } from '../../calls/sheets/pane-part.js';
import type { Part, Sheet, Tabbed } from '../../calls/sheets/sheet.js';
import { linesDocument } from '../../document/index.js';
import type { CallStory } from './call-story.js';
import type { SheetsOptions } from './sheet.js';

/** The views of the call's thread as they are now, each a part (RT-VIEW). */
export function viewsTab(story: CallStory, { highlighter }: SheetsOptions): Tabbed {
  const sheets = new Memo<Sheet>();
  const drawOf = onceEach((view: View) => panePart(viewPane(view)));
  return look => {
    const views = [...(story.thread?.views.values() ?? [])];
    const drawn = views.map(view => drawOf(view)({ ...look, highlighter: highlighter() }));
    const parts = drawn.length > 0 ? drawn : NONE;
    return sheets.of(parts, () => ({ parts }));
  };
}

const TITLE: Line = [say('VIEWS', 'title')];
const NONE: readonly Part[] = [
  {
    title: TITLE,
    document: linesDocument([[say('the thread of this call has no views', 'dim')]]),
    pane: null,
  },
];
