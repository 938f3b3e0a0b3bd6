import { type BrowsingCommand, LIST_BINDINGS, READING_BINDINGS, tabBindings } from '../../calls/bindings.js';
import type { ReadingCommand } from '../../document/index.js';
import { type Binding, bind, commandIn } from '../../keys/table.js';
import { TITLES } from '../tabs/index.js';

/** Where a key is pressed: what it means differs from place to place. */
export type Place = 'everywhere' | 'tools' | 'calls' | 'reading' | 'form';

export type Command =
  | ReadingCommand
  | BrowsingCommand
  | 'showTools'
  | 'showCalls'
  | 'help'
  | 'quit'
  | 'search'
  | 'openServer'
  | 'dismiss'
  | 'runForm'
  | 'runUnchecked'
  | 'runAgain'
  | 'editAgain'
  | 'answer'
  | 'cancel'
  | 'visit'
  | 'copyConsent'
  | 'copyCurl'
  | 'copyCommand'
  | 'saveFixture'
  | 'saveTranscript'
  | 'openTranscript'
  | 'nextVolume';

/** Every key of the workbench but those that type. The help, the line at the bottom and the page of keys are made from it. */
export const BINDINGS: readonly Binding<Place, Command>[] = [
  bind('everywhere', 'showTools', 't', 't', 'tools and their operations'),
  bind('everywhere', 'showCalls', 'c', 'c', 'calls and their outcomes'),
  bind('everywhere', 'focusNext', 'tab', 'Tab', 'the next pane'),
  bind('everywhere', 'focusPrevious', 'shift+tab', 'Shift-Tab', 'the previous pane'),
  bind('everywhere', 'back', 'escape', 'Esc', 'back'),
  bind('everywhere', 'openServer', 'u', 'u', 'open a tool server by its URL'),
  bind('everywhere', 'openTranscript', 'O', 'O', 'open a transcript'),
  bind('everywhere', 'saveTranscript', 'S', 'S', 'save the transcript of this session'),
  bind('everywhere', 'help', '?', '?', 'show or hide the keys'),
  bind('everywhere', 'quit', 'q ctrl+c', 'q Ctrl-C', 'quit: pending calls are cancelled'),

  bind('tools', 'up', 'k up', '↑ k', 'the previous operation'),
  bind('tools', 'down', 'j down', '↓ j', 'the next operation'),
  bind('tools', 'first', 'g home', 'Home g', 'the first one'),
  bind('tools', 'last', 'G end', 'End G', 'the last one'),
  bind('tools', 'enter', 'enter', '⏎', 'open the form; on a server: start or retry'),
  bind('tools', 'dismiss', 'x', 'x', 'remove a server that could not be reached'),
  bind('tools', 'pageDown', 'space pagedown', 'PgDn Space', 'scroll the details down'),
  bind('tools', 'pageUp', 'pageup', 'PgUp', 'scroll the details up'),
  bind('tools', 'search', '/', '/', 'search for an operation'),
  bind('tools', 'nextMatch', 'n', 'n', 'the next match'),
  bind('tools', 'previousMatch', 'N', 'N', 'the previous match'),

  ...LIST_BINDINGS,
  bind('calls', 'nextVolume', 'V', 'V', 'the next open transcript'),
  ...tabBindings(TITLES),
  bind('calls', 'runAgain', 'r', 'r', 'run the call again'),
  bind('calls', 'editAgain', 'e', 'e', 'edit it and run it again'),
  bind('calls', 'answer', 'a', 'a', "answer the tool's question"),
  bind('calls', 'cancel', 'x', 'x', 'cancel the call, or its subscription'),
  bind('calls', 'visit', 'o', 'o', 'open the consent page'),
  bind('calls', 'copyConsent', 'U', 'U', 'copy the URL of the consent page'),
  bind('calls', 'copyCurl', 'y', 'y', 'copy as curl'),
  bind('calls', 'copyCommand', 'Y', 'Y', 'copy as a command line'),
  bind('calls', 'saveFixture', 's', 's', 'save as a fixture'),

  ...READING_BINDINGS,

  bind('form', 'runUnchecked', 'ctrl+t', 'Ctrl-T', 'run with invalid arguments'),
  bind('form', 'help', 'ctrl+g', 'Ctrl-G', 'show or hide the keys'),
  bind('form', 'back', 'escape', 'Esc', 'back; keeps the input'),
];

/** What a key means in the first of these places that knows it. */
export function commandOf(name: string, places: readonly Place[]): Command | undefined {
  return commandIn(BINDINGS, name, places);
}
