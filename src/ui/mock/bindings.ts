import { type BrowsingCommand, LIST_BINDINGS, READING_BINDINGS, tabBindings } from '../calls/bindings.js';
import type { ReadingCommand } from '../document/index.js';
import { type KeyTable, tablesOf } from '../keys/key-lines.js';
import { type Binding, bind, commandIn } from '../keys/table.js';
import { TITLES } from './sheets/tabs.js';

export type Place = 'everywhere' | 'calls' | 'reading';
export type Doing = 'pause' | 'replay' | 'fire' | 'reload';
export type Command = ReadingCommand | BrowsingCommand | Doing | 'search' | 'help' | 'quit';

/** Every key of the mock's screen but those that type. The help and the page of keys are made from it. */
export const BINDINGS: readonly Binding<Place, Command>[] = [
  bind('everywhere', 'pause', 'p', 'p', 'pause or resume deliveries'),
  bind('everywhere', 'reload', 'R', 'R', 'reload the fixture files'),
  bind('everywhere', 'focusNext', 'tab', 'Tab', 'the next pane'),
  bind('everywhere', 'focusPrevious', 'shift+tab', 'Shift-Tab', 'the previous pane'),
  bind('everywhere', 'back', 'escape', 'Esc', 'back to the list'),
  bind('everywhere', 'help', '?', '?', 'show or hide the keys'),
  bind('everywhere', 'quit', 'q ctrl+c', 'q Ctrl-C', 'quit: pending deliveries are sent first'),

  ...LIST_BINDINGS,
  ...tabBindings(TITLES),
  bind('calls', 'replay', 'r', 'r', 'send the last callback again'),
  bind('calls', 'fire', 'e', 'e', 'send what the call waits for: an event, a consent, the default choice'),

  ...READING_BINDINGS,
];

const PLACES: Readonly<Record<Place, string>> = {
  everywhere: 'Everywhere',
  calls: 'Calls',
  reading: 'Reading a call',
};

/** Every key, place by place. @param focus where one is */
export function keyTables(focus?: 'list' | number): readonly KeyTable[] {
  return tablesOf(BINDINGS, PLACES, focus === undefined ? [] : placesAt(focus));
}

/** What a key means. */
export function commandOf(name: string, focus: 'list' | number): Command | undefined {
  return commandIn(BINDINGS, name, placesAt(focus));
}

/** The reading of a call knows its doings too. */
function placesAt(focus: 'list' | number): readonly Place[] {
  return focus === 'list' ? ['calls', 'everywhere'] : ['reading', 'calls', 'everywhere'];
}
