import type { Command } from './keys.js';

/** What a person looks at; changed by keys alone. */
export interface View {
  readonly page: 'list' | 'details' | 'help';
  /** The key of the selected call; null follows the newest. */
  readonly selected: string | null;
  /** Rows of the details, or of the help, above the first that is seen. */
  readonly scroll: number;
}

export const FIRST_VIEW: View = { page: 'list', selected: null, scroll: 0 };

/** What a key is pressed upon. */
export interface Stage {
  /** Keys of the calls, oldest first. */
  readonly calls: readonly string[];
  /** How many rows of details are seen at a time. */
  readonly height: number;
  /** How far they can be scrolled. */
  readonly most: number;
}

/** The view after a key. Pure; what else a key does is done elsewhere. */
export function stepView(view: View, command: Command, stage: Stage): View {
  switch (command) {
    case 'up':
      return move(view, stage, -1);
    case 'down':
      return move(view, stage, 1);
    case 'first':
      return select(view, stage.calls[0] ?? null);
    case 'follow':
      return select(view, null);
    case 'pageUp':
      return scroll(view, stage, -1);
    case 'pageDown':
      return scroll(view, stage, 1);
    case 'details':
      return { ...view, page: view.page === 'list' ? 'details' : 'list', scroll: 0 };
    case 'help':
      return { ...view, page: view.page === 'list' ? 'help' : 'list', scroll: 0 };
    default:
      return view;
  }
}

/** Where the selected call stands: the newest where it is followed; the oldest where the selected one is forgotten. */
export function selectedIndex({ selected }: View, calls: readonly string[]): number {
  return selected === null ? calls.length - 1 : Math.max(0, calls.indexOf(selected));
}

function move(view: View, { calls }: Stage, by: number): View {
  const index = Math.min(calls.length - 1, Math.max(0, selectedIndex(view, calls) + by));
  return select(view, calls[index] ?? null);
}

function select(view: View, selected: string | null): View {
  return { ...view, selected, scroll: 0 };
}

/** Whoever reads a call does not want to follow the newest any more. */
function scroll(view: View, { calls, height, most }: Stage, by: number): View {
  const to = Math.min(most, view.scroll) + by * Math.max(1, height - 1);
  const selected = view.selected ?? calls.at(-1) ?? null;
  return { ...view, selected, scroll: Math.min(most, Math.max(0, to)) };
}
