import { initialList, type List, type ListState } from '../list/list.js';
import { type ListUpdate, listSeen, reduceList } from '../list/reduce-list.js';
import {
  EMPTY_SCREEN,
  reduceScreen,
  type ScreenAction,
  type ScreenState,
  withMessage,
} from '../screen/state.js';

/** What the user types a text or selects a choice for: the search, or the question of a tool. */
export type ListPurpose = 'search' | 'choice';

/** The state of a screen with one list of calls. */
export interface LiveListState<Tab extends string> extends ScreenState<ListPurpose> {
  readonly list: ListState<Tab>;
}

export type LiveListAction = ScreenAction<ListPurpose> | ListUpdate;

export function initialLiveList<Tab extends string>(
  list: Pick<List<never, Tab>, 'tabs' | 'isSingle'>,
): LiveListState<Tab> {
  return { ...EMPTY_SCREEN, list: initialList(list) };
}

/** The reducer of a screen with this list. */
export function liveListReducer<Entry, Tab extends string>(list: List<Entry, Tab>) {
  return (state: LiveListState<Tab>, action: LiveListAction): LiveListState<Tab> => {
    switch (action.type) {
      case 'list': {
        const { state: changed, said } = reduceList({ list, state: state.list }, action.action, action.room);
        return withMessage({ ...state, list: changed }, said, action.until);
      }
      case 'seen':
        return { ...state, list: listSeen(state.list, action.place) };
      default:
        return reduceScreen(state, action);
    }
  };
}
