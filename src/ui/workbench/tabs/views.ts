import type { Tabbed } from '../../calls/sheets/sheet.js';
import { viewsSheet } from '../../calls/sheets/views.js';
import type { CallStory } from './call-story.js';
import type { SheetsOptions } from './options.js';

/** The views of the call's thread as they are now. */
export function viewsTab(story: CallStory, { highlighter }: SheetsOptions): Tabbed {
  const sheetOf = viewsSheet(highlighter, 'the thread of this call has no views');
  return look => sheetOf(story.thread?.views.values() ?? [], look);
}
