import type { OAuth, UserChoice } from '../../protocol/callbacks.js';
import type { Pane, Panes } from '../../render/panes.js';
import type { Highlighter } from '../../render/syntax.js';
import { type PickerState, pickerOf, pressPicker } from '../picker.js';
import type { ActionResult } from '../screen/effects.js';
import type { Size } from '../tty.js';

/** Without a result from the tool, there is nothing for the human that the steps do not say. */
export type ShownPanes = Pick<Panes, 'llm'> & { readonly human: Pane | null };

/** A page that the user opened with a key. */
export interface Visit {
  readonly page: OAuth;
  /** Null while the page is being opened. */
  readonly outcome: ActionResult | null;
}

interface Asked {
  readonly question: UserChoice;
  readonly picker: PickerState;
}

/** What the user has to answer: a question, or a page to visit. */
export type Subject = UserChoice | OAuth | null;

/** A live view, beside the history that it shows. */
export interface LiveState {
  readonly size: Size;
  /** In ms since the view began. */
  readonly now: number;
  /** The questions without an answer, oldest first. The first one is shown. */
  readonly asked: readonly Asked[];
  /** The first page in the history that the user has to visit. */
  readonly page: OAuth | null;
  readonly visit: Visit | null;
  /** The question or page that has been on the screen long enough to be answered. */
  readonly ready: Subject;
  /** Null until the call is settled. */
  readonly panes: ShownPanes | null;
  readonly highlighter: Highlighter | null;
  /** Other code uses the terminal. */
  readonly isAside: boolean;
  /** The next frame is the last one. */
  readonly isOver: boolean;
}

export type LiveAction =
  /** Time has passed, the history has changed, or the terminal has another size. */
  | { readonly type: 'refresh'; readonly size: Size; readonly now: number; readonly page: OAuth | null }
  | { readonly type: 'ask'; readonly question: UserChoice }
  | { readonly type: 'answer'; readonly question: UserChoice }
  | { readonly type: 'ready'; readonly subject: Subject }
  /** A key for the first question; Enter and Escape are effects. */
  | { readonly type: 'press'; readonly key: string }
  | { readonly type: 'visit'; readonly visit: Visit }
  | { readonly type: 'settle'; readonly panes: ShownPanes | null }
  | { readonly type: 'highlight'; readonly highlighter: Highlighter | null }
  | { readonly type: 'aside'; readonly isAside: boolean }
  | { readonly type: 'end' };

export function liveStateOf(size: Size): LiveState {
  return {
    size,
    now: 0,
    asked: [],
    page: null,
    visit: null,
    ready: null,
    panes: null,
    highlighter: null,
    isAside: false,
    isOver: false,
  };
}

export function reduceLive(state: LiveState, action: LiveAction): LiveState {
  switch (action.type) {
    case 'refresh':
      return { ...state, size: action.size, now: action.now, page: action.page };
    case 'ask': {
      const { question } = action;
      return { ...state, asked: [...state.asked, { question, picker: pickerOf(question) }] };
    }
    case 'answer':
      return { ...state, asked: state.asked.filter(({ question }) => question !== action.question) };
    case 'ready':
      return { ...state, ready: action.subject };
    case 'press': {
      const [first, ...others] = state.asked;
      if (!first || answerableOf(state) !== first.question) return state;
      return { ...state, asked: [{ ...first, picker: pressPicker(first.picker, action.key) }, ...others] };
    }
    case 'visit':
      return { ...state, visit: action.visit };
    case 'settle':
      return { ...state, panes: action.panes };
    case 'highlight':
      return { ...state, highlighter: action.highlighter };
    case 'aside':
      return { ...state, isAside: action.isAside };
    case 'end':
      return { ...state, isOver: true };
  }
}

/** The first question, or the page that must be visited. With one, keys have an effect now or will in a moment. */
export function subjectOf({ isOver, isAside, asked, page }: LiveState): Subject {
  if (isOver || isAside) return null;
  return asked[0]?.question ?? page;
}

/** The question or page that keys answer now. */
export function answerableOf(state: LiveState): Subject {
  const subject = subjectOf(state);
  return subject === state.ready ? subject : null;
}

/** The question that the user can answer now. */
export function shownPicker(state: LiveState): PickerState | null {
  const [first] = state.asked;
  return first && answerableOf(state) === first.question ? first.picker : null;
}
