import { partText } from '../reading/sheet.js';
import type { ActionResult, ScreenEffects } from '../screen/effects.js';
import type { Size } from '../tty.js';
import { isEmpty, type Listed, selectedSheet } from './list.js';
import { type ListAction, type ListUpdate, showsHunks } from './reduce-list.js';

/** What the keys of a list need of its screen. */
export interface ListControls {
  readonly isListEmpty: () => boolean;
  /** The details show a diff with hunks. */
  readonly hasHunks: () => boolean;
  readonly onList: (action: ListAction) => void;
  readonly askSearch: () => void;
  /** Copies the text of the part with the focus. */
  readonly copyText: () => void;
}

interface ListControlsOptions {
  /** Reads the list that is shown, whatever its entries are. */
  readonly withList: <Result>(
    read: <Entry, Tab extends string>(listed: Listed<Entry, Tab>) => Result,
  ) => Result;
  /** The room of the list and its details. */
  readonly room: () => Size;
  readonly dispatch: (update: ListUpdate) => void;
  readonly effects: Pick<ScreenEffects<never>, 'report' | 'soon'>;
  /** Copies to the clipboard of the terminal. */
  readonly copy: (text: string) => ActionResult;
}

/** What the keys of a list do, besides asking for a search text. */
export function listControls(options: ListControlsOptions): Omit<ListControls, 'askSearch'> {
  const { withList, room, dispatch, effects, copy } = options;
  return {
    isListEmpty: () => withList(({ list }) => isEmpty(list)),
    hasHunks: () => withList(listed => showsHunks(listed, room())),
    onList: action => dispatch({ type: 'list', action, room: room(), until: effects.soon() }),
    copyText() {
      const place = withList(listed => selectedSheet(listed, room()));
      if (place) effects.report(copy(partText(place)));
    },
  };
}
