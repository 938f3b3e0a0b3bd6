import { createTheme, type Theme } from '../../dress/theme.js';
import { isUnderWay } from '../../exchange/exchange.js';
import type { Line } from '../../story/line.js';
import { otherTabs } from '../calls/other-tabs.js';
import { callsPage } from '../calls/page.js';
import { type Readable, SheetView } from '../calls/sheet-view.js';
import { frameOf } from '../full-screen/plan.js';
import { Highlighting } from '../highlighting.js';
import type { Size } from '../terminal.js';
import { planOf, type Surroundings } from './frame.js';
import { type Looking, lookingAt, openQuestion } from './looking.js';
import type { SessionOptions } from './options.js';
import { OverlayPages } from './overlays/rows.js';
import { callsSceneOf } from './pages/calls-scene.js';
import type { Matters } from './pages/foot.js';
import { type FormStanding, formPage } from './pages/form-page.js';
import { headingOf } from './pages/heading.js';
import { ToolDetails } from './pages/tool-details.js';
import { toolsPage } from './pages/tools-page.js';
import { rivalsAt } from './rivals.js';
import { sheetRoom } from './stage.js';
import { entriesOf, entryIndex, selectedEntry } from './state/entries.js';
import { isUnderWay as isSent } from './state/orders.js';
import type { Filling, State } from './state/state.js';
import { Sheets, TABS, type Tab, TITLES, Verdicts } from './tabs/index.js';

/** A page, and whether it changes as time goes on. */
interface Page {
  readonly rows: readonly string[];
  readonly isRunning: boolean;
}

function still(rows: readonly string[]): Page {
  return { rows, isRunning: false };
}

/** Draws the state: what there is to see of the world, as a person looks at it. */
export class Drawing {
  readonly sheet: SheetView<Tab>;
  readonly #sheets: Sheets;
  readonly #verdicts: Verdicts;
  readonly #options: SessionOptions;
  readonly #theme: Theme;
  readonly #details: ToolDetails;
  readonly #overlays: OverlayPages;
  readonly #highlighting: Highlighting;

  constructor(options: SessionOptions, onChange: () => void) {
    const { supports, level } = options;
    this.#options = options;
    this.#theme = createTheme(level);
    this.#details = new ToolDetails(this.#theme);
    this.#overlays = new OverlayPages(this.#theme);
    this.#highlighting = new Highlighting(level, onChange);
    this.#verdicts = new Verdicts(options.clock, onChange, key => options.world.isUnvalidated(key));
    this.#sheets = new Sheets({
      supports,
      highlighter: () => this.#highlighting.current,
      verdicts: this.#verdicts,
      onChange,
    });
    this.sheet = new SheetView(this.#theme);
  }

  /** The call that is looked at, to be read; null where there is none. */
  readable({ volume, book, key }: Looking): Readable<Tab> | null {
    if (key === null) return null;
    return {
      name: JSON.stringify([volume.id, key]),
      sheetOf: (tab, look) => this.#sheets.sheetOf(tab, { ...volume, key }, look),
      others: tab => otherTabs(TABS, TITLES, tab, book.whole.of(key)),
    };
  }

  frame(state: State, notices: readonly Line[], size: Size, now: number) {
    const looking = lookingAt(state, this.#options.world);
    const surroundings = this.#surroundings(state, looking, notices, size);
    const plan = planOf(surroundings, size, this.#theme);
    const overlay = this.#overlays.pageOf(state, plan.body);
    const page = overlay ? still(overlay.rows) : this.#page(state, looking, plan.body, now);
    return {
      rows: frameOf(plan, page.rows),
      body: plan.body,
      isRunning: page.isRunning,
      most: overlay?.most ?? 0,
    };
  }

  close(): void {
    this.#verdicts.close();
  }

  #page(state: State, looking: Looking, size: Size, now: number): Page {
    const theme = this.#theme;
    const { filling, orders } = state;
    if (state.page === 'form' && filling)
      return still(formPage(filling, this.#standingOf(filling, orders), size, theme));
    if (state.page === 'tools') {
      const entries = entriesOf(this.#options.world.servers);
      const selected = entryIndex(entries, state.tools.selected);
      return still(
        toolsPage({ entries, selected, scroll: state.tools.scroll }, size, {
          theme,
          details: this.#details,
        }),
      );
    }
    this.#highlighting.ask();
    const sheet = (room: Size) => this.sheet.rowsOf(state.calls, this.readable(looking), room);
    const { volume, book } = looking;
    const at = volume.isLive ? now : (book.whole.events.at(-1)?.at ?? 0); // what was recorded is as it was at its end
    const verdictOf = (key: string) => this.#verdicts.glance({ ...volume, key });
    const seen = { looking, world: this.#options.world, verdictOf, now: at };
    const page = callsPage({ ...callsSceneOf(state.calls, seen), sheet }, size, theme);
    return { rows: page.rows, isRunning: volume.isLive && page.isRunning };
  }

  #standingOf(filling: Filling, orders: State['orders']): FormStanding {
    const rivals = rivalsAt(filling.server, filling.operation, this.#options.world.servers);
    return { isSending: isSent(orders, filling.id), rivals };
  }

  #surroundings(state: State, looking: Looking, notices: readonly Line[], size: Size): Surroundings {
    return {
      state,
      notices,
      heading: headingOf(state, looking, this.#options.world),
      matters: this.#matters(state, looking, size),
    };
  }

  #matters(state: State, looking: Looking, size: Size): Matters {
    const { exchange, volume, book } = looking;
    const isLive = volume.isLive && exchange !== undefined;
    return {
      entry: state.page === 'tools' ? selectedEntry(state, this.#options.world.servers) : undefined,
      asks: isLive && openQuestion(looking, book) !== null,
      hasPage: isLive && exchange.waitingFor?.type === 'oauth',
      isRunning: isLive && isUnderWay(exchange),
      hasDiff:
        state.page === 'calls' &&
        this.sheet.hasHunks(state.calls, this.readable(looking), sheetRoom(state, looking, size)),
    };
  }
}
