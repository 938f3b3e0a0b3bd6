import type { Event } from '../../events/events.js';
import type { Line } from '../../render/line.js';
import type { ColourLevel } from '../../render/terminal/colour-level.js';
import type { Clock } from '../../system/clock.js';
import type { Keys, KeyTable, Place, Press } from '../keys.js';
import { lazyHighlighter } from '../lazy-highlighter.js';
import { isReading, type List, type Listed, selectedEntry } from '../list/list.js';
import { type ListControls, listControls } from '../list/list-controls.js';
import type { SheetPlace } from '../reading/sheet.js';
import { type ActionResult, type ScreenEffects, screenEffects } from '../screen/effects.js';
import { type FooterHints, layOutScreen, listRoom, QUIT_HINTS, type ScreenLayout } from '../screen/layout.js';
import { PLAIN_SCREEN, type PressTarget, pressScreen } from '../screen/press.js';
import type { Overlay } from '../screen/state.js';
import { createStore, type Store } from '../store.js';
import { askQuestions } from './questions.js';
import {
  initialLiveList,
  type ListPurpose,
  type LiveListAction,
  type LiveListState,
  liveListReducer,
} from './state.js';

/** The calls that a screen lists: where they come from, and what it says about them. */
export interface LiveListSource<Entry, Tab extends string> {
  readonly list: Omit<List<Entry, Tab>, 'highlighter'>;
  /** Returns a notice about an event that belongs to no call, if there is one. */
  readonly apply: (event: Event) => Line | null;
  /** The lines above the list. @param reading the call whose details have the focus */
  readonly head: (columns: number, isRoomy: boolean, reading: Entry | undefined) => readonly Line[];
  /** How many calls there were, and what became of them. */
  readonly summary: () => string;
  /** The head changes as time passes. */
  readonly isRunning?: () => boolean;
}

/** What the keys of any live list act on. */
export interface LiveListControls<Entry> extends ListControls {
  readonly selected: () => Entry | undefined;
  readonly effects: ScreenEffects<ListPurpose>;
  readonly quit: () => void;
}

interface LiveListOptions<Entry, Tab extends string, Controls> {
  /** @param onChange must be called after changes that no event caused */
  readonly source: (now: () => number, onChange: () => void) => LiveListSource<Entry, Tab>;
  readonly keys: Keys<Controls>;
  /** Adds what the keys of this list alone need. */
  readonly controls: (base: LiveListControls<Entry>) => Controls;
  /** Copies to the clipboard of the terminal. */
  readonly copy: (text: string) => ActionResult;
  /** Called for each key that quits. */
  readonly quit: (effects: ScreenEffects<ListPurpose>) => void;
  readonly clock: Clock;
  readonly level: ColourLevel;
}

/** A full screen with the calls that a server receives. It never blocks the server. */
export interface LiveList<Entry, Tab extends string> {
  readonly store: Store<LiveListState<Tab>, LiveListAction>;
  readonly listed: () => Listed<Entry, Tab>;
  readonly layout: () => ScreenLayout;
  readonly hints: () => FooterHints;
  readonly helpTables: () => readonly KeyTable[];
  readonly now: () => number;
  readonly press: (press: Press) => void;
  readonly event: (event: Event) => void;
  readonly onSeen: (place: SheetPlace) => void;
  /** Must be called after each frame. */
  readonly onDrawn: (overlay: Overlay<unknown> | null) => void;
  readonly isRunning: () => boolean;
  /** Asks the user; see {@link askQuestions}. */
  readonly questions: Pick<ReturnType<typeof askQuestions>, 'choose' | 'end'>;
  readonly notice: ScreenEffects<ListPurpose>['notice'];
  readonly summary: () => string;
}

/** Creates the state of a screen with one list, what its keys do, and how it follows the events. */
export function createLiveList<Entry, Tab extends string, Controls>(
  options: LiveListOptions<Entry, Tab, Controls>,
): LiveList<Entry, Tab> {
  const { keys, clock, level } = options;
  const onChange = () => store.dispatch({ type: 'changed' });
  const source = options.source(() => effects.now(), onChange);
  const list: List<Entry, Tab> = { ...source.list, highlighter: lazyHighlighter(level, onChange) };
  const store = createStore(liveListReducer(list), initialLiveList(list));
  const effects = screenEffects<ListPurpose>(store.dispatch, clock);
  const questions = askQuestions(store, effects, clock);
  const listed = (): Listed<Entry, Tab> => ({ list, state: store.state().list });
  const layout = () => {
    const reading = isReading(store.state().list) ? selectedEntry(listed()) : undefined;
    const head = (columns: number, isRoomy: boolean) => source.head(columns, isRoomy, reading);
    return layOutScreen(store.state(), head, effects.now());
  };
  const room = () => listRoom(layout());
  const quit = () => options.quit(effects);
  const keyed = listControls({
    withList: read => read(listed()),
    room,
    dispatch: store.dispatch,
    effects,
    copy: options.copy,
  });
  const controls = options.controls({
    effects,
    selected: () => selectedEntry(listed()),
    ...keyed,
    askSearch: () => effects.ask('/', 'search'),
    quit,
  });
  const places = (): readonly Place[] => [
    isReading(store.state().list) ? 'reading' : 'list',
    'calls',
    'everywhere',
  ];
  const target: PressTarget<Controls, ListPurpose> = {
    ...PLAIN_SCREEN,
    state: store.state,
    dispatch: store.dispatch,
    effects,
    keys,
    controls,
    places,
    layout,
    quit,
    onPrompt: (_, words) => keyed.onList({ type: 'search', words }),
    onPick: (_, selected) => questions.answer(selected),
    onDismiss: () => questions.answer(null),
  };
  return {
    store,
    listed,
    layout,
    hints: () => ({ hints: keys.hints(places(), controls), ends: QUIT_HINTS }),
    helpTables: () => keys.tables(places()),
    now: effects.now,
    press(pressed) {
      if (!questions.isEarly() || pressed.name === 'ctrl+c') pressScreen(target, pressed);
    },
    event(event) {
      effects.tellTime(event);
      const news = source.apply(event);
      if (news) effects.note('event', [news]);
      else onChange();
    },
    onSeen: place => store.dispatch({ type: 'seen', place }),
    onDrawn: questions.drawn,
    isRunning: source.isRunning ?? (() => false),
    questions,
    notice: effects.notice,
    summary: source.summary,
  };
}
