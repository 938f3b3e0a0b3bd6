import type { State } from '../state/state.js';
import type { Place } from './bindings.js';

/** Where one is: where the keys of a page mean nothing, those of what it is on do. */
export function placesOf({ page, calls }: State): readonly Place[] {
  if (page === 'tools') return ['tools'];
  return calls.focus === 'list' ? ['calls'] : ['reading', 'calls'];
}
