import { callsSplit, sheetSize } from '../calls/page.js';
import type { Size } from '../terminal.js';
import type { Looking } from './looking.js';
import { SHARES } from './pages/calls-scene.js';
import { entriesOf, entryIndex } from './state/entries.js';
import type { State } from './state/state.js';
import type { Stage } from './state/update.js';
import type { World } from './world.js';

/** What keys are pressed upon, as it is now. */
export function stageOf(state: State, { servers, volumes }: World, looking: Looking, parts: number): Stage {
  const entries = entriesOf(servers);
  const { keys, history } = looking.book;
  return {
    entries: {
      ids: entries.map(({ id }) => id),
      selected: entryIndex(entries, state.tools.selected),
      textOf: index => {
        const entry = entries[index];
        return entry?.kind === 'operation'
          ? `${entry.tool.name} ${entry.tool.description}`
          : (entry?.server.about ?? '');
      },
    },
    calls: {
      ids: keys,
      selected: looking.key === null ? 0 : looking.book.placeOf(looking.key),
      textOf: index => {
        const exchange = history.exchanges.get(keys[index] ?? '');
        return exchange ? Object.values(exchange.invocation).filter(isText).join(' ') : '';
      },
    },
    volumes: volumes.map(({ id }) => id),
    parts,
  };
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** The room of the sheet on the page of calls. */
export function sheetRoom({ calls }: State, { book }: Looking, body: Size): Size {
  return sheetSize(callsSplit({ count: book.keys.length, focus: calls.focus, shares: SHARES }, body));
}
