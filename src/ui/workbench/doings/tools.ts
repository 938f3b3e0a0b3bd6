import { rivalWords } from '../rivals.js';
import { type Entry, entriesOf, entryIndex } from '../state/entries.js';
import { openForm } from './form.js';
import { bad, type House } from './house.js';

/** An operation: its form. A server: it is started, or asked once more. */
export function chooseEntry(house: House): void {
  const { entries, at } = selectedIn(house);
  const entry = entries[at];
  if (!entry) return;
  if (entry.kind === 'operation') fillIn(house, entry);
  else if (entry.server.state.kind !== 'loading') house.controls.wake(entry.server.id);
}

/** Nobody fills in a form that cannot be sent (RT-TOOLSET). */
function fillIn(house: House, entry: Extract<Entry, { kind: 'operation' }>): void {
  const { rivals, tool } = entry;
  if (rivals < 2) openForm(house, entry);
  else house.say(bad(`${tool.name}: ${rivalWords(rivals)}: u opens one by its URL.`));
}

/** A server that failed is taken out; what stood below it is selected then. */
export function dismissServer(house: House): void {
  const { entries, at } = selectedIn(house);
  const entry = entries[at];
  if (entry?.kind !== 'server' || entry.server.state.kind !== 'failed') {
    house.say(bad('Only a server that could not be reached can be taken out: none is selected.'));
    return;
  }
  const next = entries[at + 1] ?? entries[at - 1];
  house.controls.dismiss(entry.server.id);
  house.change({ tools: { ...house.state.tools, selected: next?.id ?? null, scroll: 0 } });
}

function selectedIn({ world, state }: House): { readonly entries: readonly Entry[]; readonly at: number } {
  const entries = entriesOf(world.servers);
  return { entries, at: entryIndex(entries, state.tools.selected) };
}
