import { RecentCalls, RecentEvents } from '../../events/bounded-events.js';
import type { Event } from '../../events/events.js';
import type { Listener } from '../../events/log.js';
import type { ToolCall } from '../../events/tool-call.js';
import { NO_CALLS, stepTally, type Tally, tallyLine } from '../../render/call-details.js';
import { callName } from '../../render/calls.js';
import { type Line, quote, say } from '../../render/line.js';
import { newsOf } from '../../render/news.js';
import type { ColourLevel } from '../../render/terminal/colour-level.js';
import { cutLine } from '../../render/terminal/theme.js';
import type { Clock } from '../../system/drafts.js';
import {
  type Browsing,
  type BrowsingCommand,
  firstBrowsing,
  LIST_BINDINGS,
  READING_BINDINGS,
  tabBindings,
} from '../calls/list.js';
import type { ReadingCommand } from '../document/view.js';
import { type Binding, bind, commandIn, type KeyTable, type Typed, tablesOf } from '../keys.js';
import { type Tab, TITLES } from './tabs.js';

/** What is remembered of what the mock tells, bounded however long it tells. */
export class Memory {
  readonly calls = new RecentCalls();
  readonly events = new RecentEvents();
  #tally = NO_CALLS;
  /** When the mock's events began, by the clock. */
  #start: number;

  constructor(private readonly clock: Clock) {
    this.#start = clock.now();
  }

  /** Returns what there is to say of it where it belongs to no call. */
  take(event: Event): Line | null {
    this.#start = this.clock.now() - event.at;
    this.calls.apply(event);
    this.events.apply(event);
    this.#tally = stepTally(this.#tally, event);
    return event.calls?.length ? null : newsOf(event, undefined);
  }

  /** Ms since the start. */
  get now(): number {
    return this.clock.now() - this.#start;
  }

  get tally() {
    return this.#tally;
  }

  /** How it went, in a line. */
  get summary(): string {
    return tallyLine(this.#tally)
      .map(({ text }) => text)
      .join('');
  }
}

type Place = 'everywhere' | 'calls' | 'reading';
type Doing = 'pause' | 'replay' | 'fire' | 'reload';
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

/** The mock that is looked at. */
export interface ShownTool {
  readonly name: string;
  readonly url: string;
  readonly seed: string;
  /** How many fixtures there are. */
  readonly fixtures: number;
}

/** Cells of a name: where the mock is reached is needed more. */
const MOST_NAME = 16;

/** Where the mock is reached, and how it goes. @param read whoever reads a call on a small screen sees no list: it stands here */
export function headLines(
  tool: ShownTool,
  tally: Tally,
  isPaused: boolean,
  read?: ToolCall,
): readonly Line[] {
  const { name, url, seed, fixtures } = tool;
  const count = `${fixtures} ${fixtures === 1 ? 'fixture' : 'fixtures'}`;
  const paused = isPaused ? [say('‖ deliveries are held back', 'warn'), say(' · ', 'dim')] : [];
  return [
    [
      ...cutLine(quote(name, 'title'), MOST_NAME),
      say('  '),
      say(url, 'running'),
      ...(read ? [say('  '), ...callName(read)] : []),
    ],
    [...paused, ...tallyLine(tally), say(` · ${count} · seed `, 'dim'), ...quote(seed, 'dim')],
  ];
}

/** What to do where nothing has come yet. */
export function emptyLines({ url }: ShownTool): readonly Line[] {
  return [
    [say('No calls yet.')],
    [say('Give a runtime this URL, or try it from another terminal, by hand:', 'dim')],
    [say('  protocol-cli invoke -i ', 'dim'), say(url, 'running')],
  ];
}

export interface MockSessionOptions {
  readonly tool: ShownTool;
  readonly controls: MockControls;
  readonly clock: Clock;
  readonly level: ColourLevel;
  /** Types of display segments that are drawn (RT-DISPLAY). */
  readonly supports: ReadonlySet<string>;
}

export interface MockScreenOptions extends MockSessionOptions {
  readonly subscribe: (listener: Listener) => () => void;
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
}

/** What a person can make the mock do. */
interface MockControls {
  readonly pause: () => void;
  readonly resume: () => void;
  /** The last callback of the call with this key once more; false where there is none. */
  readonly redeliver: (key: string) => boolean;
  /** What the calls with this id in this thread wait for; how many there were. */
  readonly fire: (id: string, groupId: string) => number;
  /** Reads the fixture files again, and says what came of it. */
  readonly reload: () => void;
  /** `q` or Ctrl-C, each time. Whoever listens lets the mock end, then closes the screen. */
  readonly quit: () => void;
}

/** Something between a person and the calls. */
export type Overlay =
  | { readonly kind: 'help'; readonly scroll: number }
  | { readonly kind: 'search'; readonly prompt: Typed };

/** What a person looks at, and what they made the mock do. Changed by keys alone. */
export interface State {
  readonly overlay: Overlay | null;
  readonly calls: Browsing<Tab>;
  readonly isPaused: boolean;
}

export const FIRST_STATE: State = { overlay: null, calls: firstBrowsing<Tab>('call'), isPaused: false };

/** What a doing works with. */
interface Workplace {
  readonly controls: MockControls;
  readonly state: State;
  /** The call that is looked at. */
  readonly call: ToolCall | undefined;
  /** The selected one is not remembered any more. */
  readonly isForgotten: boolean;
}

/** What came of a doing. */
interface Done {
  /** For the person; null where something else will say it. */
  readonly said: string | null;
  readonly change?: Partial<State>;
}

/** Does to the mock what a command asks for; null where it asks for nothing of it. */
export function perform(command: Command, place: Workplace): Done | null {
  switch (command) {
    case 'pause':
      return pause(place);
    case 'replay':
      return { said: replay(place) };
    case 'fire':
      return { said: fire(place) };
    case 'reload':
      place.controls.reload();
      return { said: null };
    case 'quit':
      place.controls.quit();
      return { said: 'Ending: what is pending is delivered first.' };
    default:
      return null;
  }
}

/** Only so many are remembered. */
export const FORGOTTEN = 'The selected call is forgotten: ↑ and ↓ select another, G the newest.';

function pause({ controls, state }: Workplace): Done {
  const isPaused = !state.isPaused;
  if (isPaused) controls.pause();
  else controls.resume();
  const said = isPaused ? 'Deliveries are held back until p is pressed again.' : 'Deliveries go on.';
  return { said, change: { isPaused } };
}

function replay({ controls, call, isForgotten }: Workplace): string {
  if (!call) return isForgotten ? FORGOTTEN : 'There is no call to replay.';
  return controls.redeliver(call.key)
    ? 'The last callback of the call is sent once more.'
    : 'The call has no callback that could be sent again.';
}

function fire({ controls, call, isForgotten }: Workplace): string {
  if (!call?.addressee) return isForgotten ? FORGOTTEN : 'There is no call to fire.';
  const fired = controls.fire(call.addressee.id, call.addressee.group_id);
  return fired > 0 ? 'Fired.' : 'The call waits for nothing that could be fired.';
}
