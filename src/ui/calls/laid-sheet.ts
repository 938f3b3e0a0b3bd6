import type { ReadingCommand } from '../document/index.js';
import type { Part, Sheet, SheetLook } from './sheets/sheet.js';
import type { Slot, Slots } from './slots.js';

/** A sheet as it stands on the screen. */
export interface LaidSheet {
  readonly sheet: Sheet;
  readonly slots: Slots;
  readonly look: SheetLook;
  /** Its name among the places that are remembered. */
  readonly place: string;
}

/** A part that a key is meant for, and where it stands. */
export interface Target {
  readonly part: Part;
  readonly slot: Slot;
}

/** The part with the focus; how a diff is laid out is meant for a diff, though another part has the focus. */
export function targetOf(
  laid: LaidSheet,
  focus: 'list' | number,
  command: ReadingCommand | 'search',
): Target | null {
  const targets = targetsIn(laid);
  const focused = targets.find(({ slot }) => slot.index === focus) ?? targets[0] ?? null;
  if (command !== 'split' && command !== 'fold') return focused;
  return [focused, ...targets].find(each => each && hasHunks(each.part)) ?? focused;
}

export function hasHunks({ document }: Part): boolean {
  return document.landmarks('hunk').length > 0;
}

function targetsIn({ sheet, slots }: LaidSheet): readonly Target[] {
  return slots.slots.flatMap(slot => {
    const part = sheet.parts[slot.index];
    return part ? [{ part, slot }] : [];
  });
}
