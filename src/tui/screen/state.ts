import { type Line, quote } from '../../render/line.js';
import type { PickerState } from '../picker.js';
import type { TextInput } from '../text-input.js';
import type { Size } from '../tty.js';

/** What covers a screen, or a part of it, until it is closed. `Purpose` says what the answer is for. */
export type Overlay<Purpose> =
  | {
      readonly kind: 'help';
      readonly scroll: number;
      /** Only the keys that contain this text are shown. */
      readonly filter: TextInput | null;
    }
  | { readonly kind: 'page'; readonly scroll: number; readonly page: Page }
  | {
      readonly kind: 'prompt';
      readonly purpose: Purpose;
      readonly label: string;
      readonly input: TextInput;
      /** The text is a suggestion, which the first typed text replaces. */
      readonly isSuggested: boolean;
    }
  | {
      readonly kind: 'question';
      readonly purpose: Purpose;
      readonly picker: PickerState;
      readonly escapeHint: string;
    };

export interface Page {
  readonly title: Line;
  readonly text: string;
  /** The text is a shell command, which is wrapped so that it can be pasted. */
  readonly isCommand: boolean;
}

export type OverlayOf<Purpose, Kind extends Overlay<Purpose>['kind']> = Extract<
  Overlay<Purpose>,
  { kind: Kind }
>;

/** The latest notice about the server, about a key, and about events that belong to no call. */
export type NoticeKind = 'server' | 'key' | 'event';

interface Notice {
  readonly lines: readonly Line[];
  /** In ms since the first event. */
  readonly until: number;
}

/** The state that every full screen has. */
export interface ScreenState<Purpose> {
  /** The size of the terminal. */
  readonly size: Size;
  /** The number of changes of what the screen shows, such as the calls. */
  readonly revision: number;
  readonly overlay: Overlay<Purpose> | null;
  readonly notices: Readonly<Partial<Record<NoticeKind, Notice>>>;
}

export type ScreenAction<Purpose> =
  | { readonly type: 'resized'; readonly size: Size }
  /** Something that the screen shows has changed. */
  | { readonly type: 'changed' }
  | { readonly type: 'show'; readonly overlay: Overlay<Purpose> | null }
  /** @param max the highest position */
  | { readonly type: 'scroll'; readonly by: number; readonly max: number }
  /** Replaces the notice of this kind. */
  | ({ readonly type: 'note'; readonly kind: NoticeKind } & Notice)
  /** Removes the notice about the previous key. */
  | { readonly type: 'forgetKey' };

export const EMPTY_SCREEN: ScreenState<never> = {
  size: { columns: 80, rows: 24 },
  revision: 0,
  overlay: null,
  notices: {},
};

export function reduceScreen<Purpose, State extends ScreenState<Purpose>>(
  state: State,
  action: ScreenAction<Purpose>,
): State {
  switch (action.type) {
    case 'resized':
      return { ...state, size: action.size };
    case 'changed':
      return { ...state, revision: state.revision + 1 };
    case 'show':
      return { ...state, overlay: action.overlay };
    case 'scroll': {
      const { overlay } = state;
      if (overlay?.kind !== 'help' && overlay?.kind !== 'page') return state;
      const scroll = Math.max(0, Math.min(action.max, overlay.scroll + action.by));
      return { ...state, overlay: { ...overlay, scroll } };
    }
    case 'note': {
      const { kind, lines, until } = action;
      return { ...state, notices: { ...state.notices, [kind]: { lines, until } } };
    }
    case 'forgetKey': {
      const { key: _, ...notices } = state.notices;
      return { ...state, notices };
    }
  }
}

/** Shows a message about a key until a time; null says nothing. */
export function withMessage<State extends ScreenState<unknown>>(
  state: State,
  text: string | null,
  until: number,
): State {
  if (text === null) return state;
  return reduceScreen(state, { type: 'note', kind: 'key', lines: [quote(text)], until });
}

/** The notices to show, oldest kind first. */
export function currentNotices({ notices }: ScreenState<unknown>, now: number): readonly Notice[] {
  return Object.values(notices).filter(({ until }) => until > now);
}
