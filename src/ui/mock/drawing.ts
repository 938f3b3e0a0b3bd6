import { createTheme, type Theme } from '../../dress/theme.js';
import type { RecentCalls } from '../../exchange/recent-calls.js';
import type { RecentEvents } from '../../exchange/recent-events.js';
import type { Line } from '../../story/line.js';
import { say } from '../../story/spans.js';
import type { Tally } from '../../story/tool-calls/index.js';
import { otherTabs } from '../calls/other-tabs.js';
import { callsPage, callsSplit, sheetSize } from '../calls/page.js';
import { titlesWith } from '../calls/problem-titles.js';
import { type Readable, SheetView } from '../calls/sheet-view.js';
import type { Tabs } from '../calls/tabs-line.js';
import { frameOf, planOf } from '../full-screen/plan.js';
import { Highlighting } from '../highlighting.js';
import { keyLines } from '../keys/key-lines.js';
import { promptLine } from '../prompt/line.js';
import { reading, wrapLines } from '../scrolled-rows.js';
import type { Size } from '../terminal.js';
import { keyTables } from './bindings.js';
import { callsSceneOf, SHARES } from './calls-scene.js';
import { FORGOTTEN } from './doings.js';
import { footLine } from './foot.js';
import { headLines, type ShownTool } from './head.js';
import type { Looking } from './looking.js';
import type { MockSessionOptions } from './options.js';
import { ToolSheets } from './sheets/sheets.js';
import { TABS, type Tab, TITLES } from './sheets/tabs.js';
import type { State } from './state.js';

/** What there is to see besides the state. */
export interface Scene {
  readonly state: State;
  readonly looking: Looking;
  readonly tally: Tally;
  readonly notices: readonly Line[];
  /** Ms since the start. */
  readonly now: number;
}

/** Draws the calls of a mock, as a person looks at them. */
export class Drawing {
  readonly sheet: SheetView<Tab>;
  readonly #tool: ShownTool;
  readonly #theme: Theme;
  readonly #highlighting: Highlighting;
  readonly #sheets: ToolSheets;
  readonly #events: RecentEvents;

  /** @param onChange something else is to be seen, though nothing happened */
  constructor(
    { tool, clock, level, supports }: Pick<MockSessionOptions, 'tool' | 'clock' | 'level' | 'supports'>,
    remembered: { readonly calls: RecentCalls; readonly events: RecentEvents },
    onChange: () => void,
  ) {
    this.#tool = tool;
    this.#events = remembered.events;
    this.#theme = createTheme(level);
    this.#highlighting = new Highlighting(level, onChange);
    const highlighter = () => this.#highlighting.current;
    this.#sheets = new ToolSheets({ ...remembered, clock, supports, highlighter, onChange });
    this.sheet = new SheetView(this.#theme);
  }

  /** The call that is looked at, to be read; null where there is none. */
  readable({ call }: Looking): Readable<Tab> | null {
    if (!call) return null;
    const { key } = call;
    return {
      name: key,
      sheetOf: (tab, look) => this.#sheets.sheetOf(tab, key, look),
      others: tab => otherTabs(TABS, TITLES, tab, this.#events.of(key)?.events ?? []),
    };
  }

  frame(scene: Scene, size: Size) {
    const { state, looking, tally, notices } = scene;
    const read = state.calls.focus === 'list' ? undefined : looking.call;
    const around = {
      head: headLines(this.#tool, tally, state.isPaused, read),
      notices,
      asked: () => null,
      foot: this.#footLine(state, looking, size),
    };
    const plan = planOf(around, size, this.#theme);
    const { rows, isRunning, most } = this.#page(scene, plan.body);
    return { rows: frameOf(plan, rows), body: plan.body, isRunning, most };
  }

  #page({ state, looking, now }: Scene, body: Size): Page {
    const theme = this.#theme;
    if (state.overlay?.kind === 'help') {
      const lines = wrapLines(keyLines(keyTables(state.calls.focus)), body.columns, theme);
      return { ...reading(lines, state.overlay.scroll, body.rows, theme), isRunning: false };
    }
    if (looking.call) this.#highlighting.ask();
    const sheet = (room: Size) =>
      looking.isForgotten
        ? wrapLines([[say(FORGOTTEN, 'warn')]], room.columns, theme)
        : this.sheet.rowsOf(state.calls, this.readable(looking), room);
    return {
      ...callsPage(
        { ...callsSceneOf(state, looking, this.#tool, now), tabs: this.#tabs(state, looking), sheet },
        body,
        theme,
      ),
      most: 0,
    };
  }

  #tabs({ calls: { tab } }: State, { call }: Looking): Tabs {
    const titles = call ? titlesWith(TITLES, this.#sheets.problemsOf(call.key)) : TITLES;
    return { titles, chosen: TABS.indexOf(tab) };
  }

  /** Nobody looks any more. */
  close(): void {
    this.#sheets.close();
  }

  #footLine(state: State, looking: Looking, size: Size): Line {
    const { overlay, calls } = state;
    if (overlay?.kind === 'search') return promptLine('/', overlay.prompt, size.columns);
    const hasDiff =
      calls.focus !== 'list' &&
      this.sheet.hasHunks(calls, this.readable(looking), sheetRoom(state, looking, size));
    return footLine(state, hasDiff, size.columns);
  }
}

/** A page: `most` is how far it can be scrolled as a whole. */
interface Page extends ReturnType<typeof callsPage> {
  readonly most: number;
}

/** The room of the sheet. */
export function sheetRoom({ calls: { focus } }: State, { calls }: Looking, body: Size): Size {
  return sheetSize(callsSplit({ count: calls.length, focus, shares: SHARES }, body));
}
