import type { MadeCallTab, ToolTab } from '../calls/tabs.js';
import { initialList, type List, type ListState } from '../list/list.js';
import { type ListUpdate, listSeen, reduceList } from '../list/reduce-list.js';
import {
  EMPTY_SCREEN,
  reduceScreen,
  type ScreenAction,
  type ScreenState,
  withMessage,
} from '../screen/state.js';
import type { Compared } from './compare.js';
import type { FormState } from './form/form.js';
import type { Draft } from './model.js';

/** What a prompt asks for, besides the search. */
export type PromptPurpose =
  | { readonly kind: 'openServer' | 'openTranscript' | 'saveTranscript' }
  | { readonly kind: 'saveFixture'; readonly call: string; readonly source: number };

/** What a prompt or a question is about. */
export type Purpose =
  | PromptPurpose
  | { readonly kind: 'search' | 'openRecent' }
  | { readonly kind: 'consent'; readonly sending: Sending }
  | { readonly kind: 'answer'; readonly call: string; readonly leg: string };

/** A draft that is being sent, so that it is not sent twice. */
export interface Sending {
  readonly draft: Draft;
  readonly validates: boolean;
  /** The name of the form, or of the call that is sent again. */
  readonly from: string;
  readonly isRerun: boolean;
}

export interface OpenForm {
  readonly name: string;
  readonly server: string;
  readonly operation: string;
  /** The call that is edited; null in the form of the operation itself. */
  readonly about: string | null;
  readonly description: string;
  readonly form: FormState;
}

export interface WorkbenchState extends ScreenState<Purpose> {
  readonly page: 'tools' | 'form' | 'calls';
  readonly tools: ListState<ToolTab>;
  readonly calls: ListState<MadeCallTab>;
  /** The id of the session or transcript whose calls are listed. */
  readonly source: number;
  /** The call that another one is compared with. */
  readonly marked: Compared | null;
  /** The latest last. */
  readonly forms: readonly OpenForm[];
  /** The name of the current form, or of the last one. */
  readonly form: string | null;
  readonly sending: readonly Sending[];
  /** The user pressed `q` while this many calls were pending. */
  readonly warning: { readonly count: number; readonly until: number } | null;
  /** A key was pressed. */
  readonly isPressed: boolean;
}

export type WorkbenchAction =
  | ScreenAction<Purpose>
  | ListUpdate
  | { readonly type: 'go'; readonly page: WorkbenchState['page'] }
  | { readonly type: 'selectTool'; readonly key: string }
  | { readonly type: 'selectCall'; readonly key: string | null }
  | { readonly type: 'showTab'; readonly tab: MadeCallTab }
  /** Shows the calls of this session or of a transcript. @param key of the call to select */
  | { readonly type: 'showCalls'; readonly source: number; readonly key: string | null }
  | { readonly type: 'openForm'; readonly form: OpenForm; readonly isShown: boolean }
  | { readonly type: 'changeForm'; readonly name: string; readonly form: FormState }
  | { readonly type: 'forgetForm'; readonly name: string }
  | { readonly type: 'sendingBegan' | 'sendingEnded'; readonly sending: Sending }
  | { readonly type: 'mark'; readonly call: Compared }
  /** Ends the search in the current list. */
  | { readonly type: 'endSearch' }
  | { readonly type: 'warn'; readonly warning: WorkbenchState['warning'] }
  | { readonly type: 'pressed' };

/** Maximum number of forms kept with their input, besides the current one; the oldest is dropped first. */
const MAX_FORMS = 50;

export interface Lists<Tool, Call> {
  readonly tools: List<Tool, ToolTab>;
  readonly calls: List<Call, MadeCallTab>;
}

export function initialWorkbench(
  lists: {
    readonly [Name in 'tools' | 'calls']: Pick<Lists<never, never>[Name], 'tabs'>;
  },
): WorkbenchState {
  return {
    ...EMPTY_SCREEN,
    page: 'tools',
    tools: initialList(lists.tools),
    calls: initialList(lists.calls),
    source: 0,
    marked: null,
    forms: [],
    form: null,
    sending: [],
    warning: null,
    isPressed: false,
  };
}

export function currentForm({ forms, form }: WorkbenchState): OpenForm | null {
  return forms.find(({ name }) => name === form) ?? null;
}

/** The reducer of a workbench with these lists. */
export function workbenchReducer<Tool, Call>(lists: Lists<Tool, Call>) {
  return (state: WorkbenchState, action: WorkbenchAction): WorkbenchState => {
    switch (action.type) {
      case 'list':
        return onCurrentList(state, action, lists);
      case 'seen':
        return state.page === 'calls'
          ? { ...state, calls: listSeen(state.calls, action.place) }
          : { ...state, tools: listSeen(state.tools, action.place) };
      case 'go':
        return { ...state, page: action.page };
      case 'selectTool':
        return { ...state, tools: { ...state.tools, selected: action.key } };
      case 'selectCall':
        return { ...state, calls: { ...state.calls, selected: action.key } };
      case 'showTab':
        return { ...state, calls: { ...state.calls, tab: action.tab } };
      case 'showCalls': {
        const { source, key } = action;
        const calls = { ...state.calls, focus: 'list', isZoomed: false, selected: key } as const;
        return { ...state, page: 'calls', source, calls };
      }
      case 'openForm':
        return withForm(state, action.form, action.isShown);
      case 'changeForm': {
        const forms = state.forms.map(each =>
          each.name === action.name ? { ...each, form: action.form } : each,
        );
        return { ...state, forms };
      }
      case 'forgetForm': {
        const forms = state.forms.filter(({ name }) => name !== action.name);
        return { ...state, forms, form: state.form === action.name ? null : state.form };
      }
      case 'sendingBegan':
        return { ...state, sending: [...state.sending, action.sending] };
      case 'sendingEnded':
        return { ...state, sending: state.sending.filter(each => each !== action.sending) };
      case 'mark':
        return { ...state, marked: action.call };
      case 'endSearch':
        return state.page === 'calls'
          ? { ...state, calls: { ...state.calls, wanted: null } }
          : { ...state, tools: { ...state.tools, wanted: null } };
      case 'warn':
        return { ...state, warning: action.warning };
      case 'pressed':
        return state.isPressed ? state : { ...state, isPressed: true };
      default:
        return reduceScreen(state, action);
    }
  };
}

function onCurrentList<Tool, Call>(
  state: WorkbenchState,
  { action, room, until }: Extract<ListUpdate, { type: 'list' }>,
  lists: Lists<Tool, Call>,
): WorkbenchState {
  if (state.page === 'calls') {
    const { state: calls, said } = reduceList({ list: lists.calls, state: state.calls }, action, room);
    return withMessage({ ...state, calls }, said, until);
  }
  const { state: tools, said } = reduceList({ list: lists.tools, state: state.tools }, action, room);
  return withMessage({ ...state, tools }, said, until);
}

/** The current form is never dropped. */
function withForm(state: WorkbenchState, form: OpenForm, isShown: boolean): WorkbenchState {
  const current = isShown ? form.name : state.form;
  const all = [...state.forms.filter(({ name }) => name !== form.name), form];
  const dropped = all.filter(({ name }) => name !== current).slice(0, -MAX_FORMS);
  const forms = all.filter(each => !dropped.includes(each));
  return isShown ? { ...state, page: 'form', form: form.name, forms } : { ...state, forms };
}
