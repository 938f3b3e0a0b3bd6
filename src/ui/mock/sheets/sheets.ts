import type { CallFile } from '../../../exchange/recent-events.js';
import type { ToolCall } from '../../../exchange/tool-call.js';
import { say } from '../../../story/spans.js';
import { RecentMap } from '../../../text/recent-map.js';
import type { ProblemCount } from '../../calls/problem-titles.js';
import { type Judged, problemsTab } from '../../calls/sheets/problems.js';
import { NO_SHEET, type Sheet, type SheetLook, type Tabbed } from '../../calls/sheets/sheet.js';
import { timelineTab } from '../../calls/sheets/timeline.js';
import { wireTab } from '../../calls/sheets/wire.js';
import { linesDocument } from '../../document/index.js';
import { callTab } from './call.js';
import { judgedRuntime } from './judged-runtime.js';
import type { ToolSheetsOptions } from './options.js';
import { resultTab } from './result.js';
import { RuntimeVerdicts } from './runtime-verdicts.js';
import type { Tab } from './tabs.js';
import { ToolStory } from './tool-story.js';
import { viewsTab } from './views.js';

type Tabs = Readonly<Record<Tab, (call: ToolCall, look: SheetLook) => Sheet>>;

interface KnownCall {
  readonly file: CallFile | undefined;
  readonly tabs: Tabs;
  /** Null where its events are forgotten. */
  readonly judged: Judged | null;
}

/** Calls whose sheets are remembered, at least: a person goes to and fro between few. */
const REMEMBERED = 4;

/** What there is to read about each call of a tool. A sheet is made when it is looked at, and kept while nothing of its call changes. */
export class ToolSheets {
  readonly #calls = new RecentMap<string, KnownCall>(REMEMBERED);

  readonly #verdicts: RuntimeVerdicts;

  constructor(private readonly options: ToolSheetsOptions) {
    const { clock, onChange } = options;
    const judge = async (key: string) => this.#callOf(key).judged?.judge();
    this.#verdicts = new RuntimeVerdicts(clock, judge, onChange);
  }

  /** How many requirements the runtime broke, as far as it is known by now. */
  problemsOf(key: string): ProblemCount {
    return this.#verdicts.glance(key, this.options.events.of(key));
  }

  /** Nobody looks any more. */
  close(): void {
    this.#verdicts.close();
  }

  /** @param key of a call; of one that is forgotten, the sheet is empty */
  sheetOf(tab: Tab, key: string, look: SheetLook): Sheet {
    const call = this.options.calls.get(key);
    return call ? this.#callOf(key).tabs[tab](call, look) : NO_SHEET;
  }

  /** Once some of its events are forgotten, a call is told anew. */
  #callOf(key: string): KnownCall {
    const file = this.options.events.of(key);
    const known = this.#calls.get(key);
    const call = known && known.file === file ? known : this.#callFor(key, file);
    this.#calls.set(key, call);
    return call;
  }

  #callFor(key: string, file: CallFile | undefined): KnownCall {
    const own = { call: callTab(), result: resultTab(this.options), views: viewsTab(this.options) };
    if (!file) return { file, judged: null, tabs: { ...own, timeline: gone, wire: gone, problems: gone } };
    const story = new ToolStory(file);
    const { redactor } = story;
    const { calls, onChange } = this.options;
    const note = (broken: number, events: number) => this.#verdicts.note(key, { broken, events });
    const judged = judgedRuntime(story, () => calls.get(key)?.warnings ?? [], note);
    const tabs = {
      ...own,
      timeline: told(timelineTab(story, redactor)),
      wire: told(wireTab(story, redactor)),
      problems: told(problemsTab(judged, { redactor, onChange })),
    };
    return { file, judged, tabs };
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
