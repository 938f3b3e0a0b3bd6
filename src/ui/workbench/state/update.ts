import { atList, browse } from '../../calls/browsing.js';
import { cycled, found, type Listed, moved } from '../../calls/lists.js';
import type { Command } from '../keys/bindings.js';
import { TABS } from '../tabs/index.js';
import type { State } from './state.js';

/** What keys are pressed upon. */
export interface Stage {
  /** What search looks at, entry by entry, and the ids of these. */
  readonly entries: Listed;
  readonly calls: Listed;
  /** Their ids. */
  readonly volumes: readonly number[];
  /** How many parts the sheet of the selected call has. */
  readonly parts: number;
}

/** The state after a command that only moves the eye. Pure; what a command makes happen is done elsewhere. */
export function update(state: State, command: Command, stage: Stage): State {
  switch (command) {
    case 'showTools':
      return { ...state, page: 'tools' };
    case 'showCalls':
      return { ...state, page: 'calls' };
    case 'help':
      return { ...state, overlay: { kind: 'help', scroll: 0 } };
    case 'back':
      return back(state, stage);
    default:
      return state.page === 'tools' ? updateTools(state, command, stage) : updateCalls(state, command, stage);
  }
}

/** A form is left for where it was opened. */
function back(state: State, stage: Stage): State {
  const { page, calls, filling } = state;
  if (page === 'calls' && calls.focus !== 'list') return updateCalls(state, 'back', stage);
  const isEdited = page === 'form' && filling !== null && filling.about !== null;
  return { ...state, page: isEdited ? 'calls' : 'tools' };
}

function updateTools(state: State, command: Command, { entries }: Stage): State {
  const { wanted, scroll } = state.tools;
  const select = (index: number | null) =>
    index === null
      ? state
      : { ...state, tools: { ...state.tools, selected: entries.ids[index] ?? null, scroll: 0 } };
  switch (command) {
    case 'up':
      return select(moved(entries, -1));
    case 'down':
      return select(moved(entries, 1));
    case 'first':
      return select(0);
    case 'last':
      return select(entries.ids.length - 1);
    case 'nextMatch':
      return select(found(entries, wanted, 1));
    case 'previousMatch':
      return select(found(entries, wanted, -1));
    case 'pageDown':
      return { ...state, tools: { ...state.tools, scroll: scroll + 1 } };
    case 'pageUp':
      return { ...state, tools: { ...state.tools, scroll: Math.max(0, scroll - 1) } };
    default:
      return state;
  }
}

function updateCalls(state: State, command: Command, { calls, parts, volumes }: Stage): State {
  if (command === 'nextVolume') return withVolume(state, nextOf(volumes, state.calls.volume));
  return { ...state, calls: browse(state.calls, command, { calls, parts, tabs: TABS }) };
}

function nextOf(volumes: readonly number[], current: number): number {
  return volumes[cycled(volumes.indexOf(current), 1, volumes.length)] ?? current;
}

/** From the newest call of another transcript on. */
function withVolume(state: State, volume: number): State {
  return { ...state, calls: { ...atList(state.calls), volume, selected: null } };
}
