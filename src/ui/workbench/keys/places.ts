import type { State } from '../state/state.js';
import type { Place } from './bindings.js';

/** Where one is: where the keys of a page mean nothing, those of what it is on do. A form takes whatever is typed. */
export function placesOf({ page, calls }: State): readonly Place[] {
  if (page === 'form') return ['form'];
  if (page === 'tools') return ['tools', 'everywhere'];
  return calls.focus === 'list' ? ['calls', 'everywhere'] : ['reading', 'calls', 'everywhere'];
}
