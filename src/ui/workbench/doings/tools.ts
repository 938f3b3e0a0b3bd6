import { entriesOf, entryIndex } from '../state/entries.js';
import { openForm } from './form.js';
import type { House } from './house.js';

/** An operation: its form. A server: it is started, or asked once more. */
export function chooseEntry(house: House): void {
  const { world, state, controls } = house;
  const entries = entriesOf(world.servers);
  const entry = entries[entryIndex(entries, state.tools.selected)];
  if (!entry) return;
  if (entry.kind === 'operation') openForm(house, entry);
  else if (entry.server.state.kind !== 'loading') controls.wake(entry.server.id);
}
