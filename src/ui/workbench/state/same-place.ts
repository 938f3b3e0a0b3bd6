import type { State } from './state.js';

/** Nothing was opened, left, selected or typed since. */
export function isSamePlace(before: State, { page, overlay, calls, filling }: State): boolean {
  return (
    page === before.page &&
    overlay === before.overlay &&
    calls === before.calls &&
    filling?.form === before.filling?.form
  );
}
