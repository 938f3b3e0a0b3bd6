import type { CallFile } from '../../../exchange/recent-events.js';
import type { ToolCall } from '../../../exchange/tool-call.js';
import { say } from '../../../story/spans.js';
import { RecentMap } from '../../../text/recent-map.js';
import { problemsTab } from '../../calls/sheets/problems.js';
import { NO_SHEET, type Sheet, type SheetLook, type Tabbed } from '../../calls/sheets/sheet.js';
import { timelineTab } from '../../calls/sheets/timeline.js';
import { wireTab } from '../../calls/sheets/wire.js';
import { linesDocument } from '../../document/index.js';
import { callTab } from './call.js';
import { judgedRuntime } from './judged-runtime.js';
import type { ToolSheetsOptions } from './options.js';
import { resultTab } from './result.js';
import type { Tab } from './tabs.js';
import { ToolStory } from './tool-story.js';
import { viewsTab } from './views.js';

type Tabs = Readonly<Record<Tab, (call: ToolCall, look: SheetLook) => Sheet>>;

/** Calls whose sheets are remembered, at least: a person goes to and fro between few. */
const REMEMBERED = 4;

/** What there is to read about each call of a tool. A sheet is made when it is looked at, and kept while nothing of its call changes. */
export class ToolSheets {
  readonly #calls = new RecentMap<string, { readonly file: CallFile | undefined; readonly tabs: Tabs }>(
    REMEMBERED,
  );

  constructor(private readonly options: ToolSheetsOptions) {}

  /** @param key of a call; of one that is forgotten, the sheet is empty */
  sheetOf(tab: Tab, key: string, look: SheetLook): Sheet {
    const call = this.options.calls.get(key);
    return call ? this.#tabsOf(key)[tab](call, look) : NO_SHEET;
  }

  /** Once some of its events are forgotten, a call is told anew. */
  #tabsOf(key: string): Tabs {
    const file = this.options.events.of(key);
    const known = this.#calls.get(key);
    const tabs = known && known.file === file ? known.tabs : this.#tabsFor(key, file);
    this.#calls.set(key, { file, tabs });
    return tabs;
  }

  #tabsFor(key: string, file: CallFile | undefined): Tabs {
    const own = { call: callTab(), result: resultTab(this.options), views: viewsTab(this.options) };
    if (!file) return { ...own, timeline: gone, wire: gone, problems: gone };
    const story = new ToolStory(file);
    const { redactor } = story;
    const { calls, onChange } = this.options;
    const judged = judgedRuntime(story, () => calls.get(key)?.warnings ?? []);
    return {
      ...own,
      timeline: told(timelineTab(story, redactor)),
      wire: told(wireTab(story, redactor)),
      problems: told(problemsTab(judged, { redactor, onChange })),
    };
  }
}

function told(tab: Tabbed): Tabs['wire'] {
  return (_, look) => tab(look);
}

const GONE: Sheet = {
  parts: [
    {
      title: [say('FORGOTTEN', 'title')],
      document: linesDocument([[say('what went over the wire is not remembered any more', 'dim')]]),
      pane: null,
    },
  ],
};

function gone(): Sheet {
  return GONE;
}
