import { type Line, quote, say } from '../../render/line.js';
import { WHEEL_ROWS } from '../keyboard.js';
import type { Press } from '../keys.js';
import { EMPTY_SCREEN, reduceScreen, type ScreenAction, type ScreenState } from '../screen/state.js';
import { createStore, type Store } from '../store.js';
import type { Size } from '../terminal.js';

/** A long text, whose rows are made only as far as the user has scrolled. */
export interface PagedText {
  readonly name: string;
  /** Makes the printed rows for a width. */
  readonly rowsFor: (width: number) => Iterator<string>;
}

interface PagerState extends ScreenState<never> {
  /** The first row on the screen. */
  readonly top: number;
}

type PagerAction = ScreenAction<never> | { readonly type: 'goTo'; readonly top: number };

export function reducePager(state: PagerState, action: PagerAction): PagerState {
  return action.type === 'goTo' ? { ...state, top: Math.max(0, action.top) } : reduceScreen(state, action);
}

/** How many rows a key scrolls, for the height of a page. */
const STEPS: Readonly<Record<string, (page: number) => number>> = {
  up: () => -1,
  k: () => -1,
  down: () => 1,
  j: () => 1,
  enter: () => 1,
  pageup: page => -page,
  b: page => -page,
  pagedown: page => page,
  space: page => page,
  wheelup: () => -WHEEL_ROWS,
  wheeldown: () => WHEEL_ROWS,
};

/** The state of a pager, and what its screen shows. */
export interface Pager {
  readonly store: Store<PagerState, PagerAction>;
  readonly size: () => Size;
  /** The visible rows. */
  readonly rows: () => readonly string[];
  readonly footer: () => Line;
  readonly press: (press: Press) => void;
}

/** @param onQuit called for `q`, Esc or Ctrl-C */
export function createPager(text: PagedText, onQuit: () => void): Pager {
  const store = createStore(reducePager, { ...EMPTY_SCREEN, top: 0 });
  const made = madeRows(text);
  /** The frame is one row shorter than the terminal, and the footer takes one row. */
  const height = () => Math.max(1, store.state().size.rows - 2);
  const rowsUpTo = (count: number) => made(store.state().size.columns, count);
  const lastTop = (count: number) => Math.max(0, rowsUpTo(count).rows.length - height());
  const top = () => Math.min(store.state().top, lastTop(store.state().top + height()));
  const goTo = (row: number) => store.dispatch({ type: 'goTo', top: Math.min(row, lastTop(row + height())) });
  return {
    store,
    size: () => store.state().size,
    rows: () => rowsUpTo(top() + height()).rows.slice(top(), top() + height()),
    footer() {
      const { rows, isWhole } = rowsUpTo(top() + height());
      const end = Math.min(top() + height(), rows.length);
      const count = `${rows.length}${isWhole ? '' : '+'}`;
      const position = `rows ${top() + 1}–${end} of ${count}`;
      return [say(`${position} · q quit · ↑↓ PgUp PgDn Home End scroll  `, 'dim'), ...quote(text.name)];
    },
    press({ name }) {
      if (['q', 'escape', 'ctrl+c'].includes(name)) onQuit();
      else if (['home', 'g'].includes(name)) goTo(0);
      else if (['end', 'G'].includes(name)) goTo(Number.POSITIVE_INFINITY);
      else goTo(top() + (STEPS[name]?.(height()) ?? 0));
    },
  };
}

/** Makes one row more than requested, to detect whether there are more. */
function madeRows({ rowsFor }: PagedText) {
  let width = 0;
  let rows: string[] = [];
  let rest: Iterator<string> | null = null;
  return (columns: number, count: number) => {
    if (columns !== width) [width, rows, rest] = [columns, [], rowsFor(columns)];
    while (rest && rows.length <= count) {
      const next: IteratorResult<string> = rest.next();
      if (next.done) rest = null;
      else rows.push(next.value);
    }
    return { rows, isWhole: rest === null };
  };
}
