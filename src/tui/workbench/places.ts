import type { Place } from '../keys.js';
import { isReading } from '../list/list.js';
import type { WorkbenchState } from './state.js';

/** The details of the current list have the focus. */
export function isReadingPage({ page, tools, calls }: WorkbenchState): boolean {
  if (page === 'form') return false;
  return isReading(page === 'calls' ? calls : tools);
}

/** The places where keys are looked up, in order. */
export function placesOf(state: WorkbenchState): readonly Place[] {
  const isInDetails = isReadingPage(state);
  if (state.page === 'form') return ['form'];
  if (state.page === 'calls') return [isInDetails ? 'reading' : 'list', 'calls', 'everywhere'];
  return isInDetails ? ['reading', 'tools', 'everywhere'] : ['tools', 'list', 'everywhere'];
}
