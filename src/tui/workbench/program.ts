import type { Event } from '../../events/events.js';
import { quote } from '../../render/line.js';
import { nearest, suggestion } from '../../util/text.js';
import type { Hint, KeyTable, Press } from '../keys.js';
import { listControls } from '../list/list-controls.js';
import type { SheetPlace } from '../reading/sheet.js';
import { type FooterHints, layOutScreen, listRoom, QUIT_HINTS, type ScreenLayout } from '../screen/layout.js';
import { type PressTarget, pressScreen } from '../screen/press.js';
import { isPromptPurpose } from './ask.js';
import { openTranscript } from './files.js';
import { type FormState, hasFields } from './form/form.js';
import { openForm, pressInForm, toolsNamed } from './forms.js';
import { workbenchHead } from './head.js';
import { WORKBENCH_KEYS, type WorkbenchControls } from './keys.js';
import { type Server, type SessionOptions, toolsOf } from './model.js';
import { placesOf } from './places.js';
import { answerQuestion, completionsOf, submitPrompt } from './prompts.js';
import { runForm } from './run.js';
import { restartWatcher } from './servers.js';
import { currentForm, type Purpose } from './state.js';
import { entryKey } from './tools.js';
import { complain, createWorkbench, type Workbench } from './workbench.js';

/** A narrow footer has only the first hints; `Run` has a row of its own as well. */
function formHints(form: FormState): FooterHints {
  const isRaw = form.mode === 'raw';
  const other: Hint = ['Ctrl-O', isRaw ? 'fields' : 'JSON'];
  return {
    hints: [
      ...(isRaw && !hasFields(form) ? [] : [other]),
      ['Ctrl-R', 'run'],
      ['↑↓', isRaw ? 'line' : 'field'],
    ],
    ends: [
      ['Ctrl-G', 'keys'],
      ['Esc', 'back'],
      ['Ctrl-C', 'quit'],
    ],
  };
}

/** A workbench with its keys. */
export interface WorkbenchProgram extends Workbench {
  readonly layout: () => ScreenLayout;
  readonly hints: () => FooterHints;
  readonly helpTables: () => readonly KeyTable[];
  readonly press: (press: Press) => void;
  readonly event: (event: Event) => void;
  readonly onSeen: (place: SheetPlace) => void;
  /** Must be called after changes of servers. */
  readonly changed: () => void;
}

/** Creates a workbench, opened as the command line requests. */
export function createWorkbenchProgram(options: SessionOptions): WorkbenchProgram {
  const workbench = createWorkbench(options);
  const { store, effects } = workbench;
  const layout = () =>
    layOutScreen(store.state(), columns => workbenchHead(workbench, columns), effects.now());
  const room = () => listRoom(layout());
  const keyed = listControls({
    withList: read => (store.state().page === 'calls' ? read(workbench.calls()) : read(workbench.tools())),
    room,
    dispatch: store.dispatch,
    effects,
    copy: workbench.controls.copy,
  });
  const quit = () => quitWorkbench(workbench);
  const controls: WorkbenchControls = {
    ...workbench,
    ...keyed,
    askSearch: () => effects.ask('/', { kind: 'search' }),
    back: () => goBack(workbench),
    quit,
    pressInForm: name => pressInForm(workbench, { name, text: '' }, () => runForm(workbench)),
  };
  const places = () => placesOf(store.state());
  const target: PressTarget<WorkbenchControls, Purpose> = {
    state: store.state,
    dispatch: store.dispatch,
    effects,
    keys: WORKBENCH_KEYS,
    controls,
    places,
    layout,
    quit,
    onPrompt(purpose, words) {
      if (purpose.kind === 'search') keyed.onList({ type: 'search', words });
      if (isPromptPurpose(purpose)) void submitPrompt(workbench, purpose, words);
    },
    complete: (purpose, typed) => completionsOf(workbench, purpose, typed),
    onPick: (purpose, selected) => answerQuestion(workbench, purpose, selected),
    onDismiss: purpose => answerQuestion(workbench, purpose, null),
    beforeKey(name) {
      store.dispatch({ type: 'pressed' });
      if (!store.state().warning || name === 'q' || name === 'ctrl+c') return;
      store.dispatch({ type: 'warn', warning: null });
      store.dispatch({ type: 'forgetKey' });
    },
    typing: () => (store.state().page === 'form' && store.state().overlay === null ? 'text' : 'keys'),
    onTyped(press) {
      if (store.state().page === 'form') pressInForm(workbench, press, () => runForm(workbench));
    },
  };
  const showRestarts = restartWatcher(workbench);
  const openStart = starter(workbench, options.start);
  const { transcript } = options.start;
  // Not as a prompt: that would ask again, and take the next keys.
  if (transcript !== undefined) void openTranscript(workbench, transcript).then(workbench.effects.report);
  return {
    ...workbench,
    layout,
    hints() {
      const open = store.state().page === 'form' ? currentForm(store.state()) : null;
      return open
        ? formHints(open.form)
        : { hints: WORKBENCH_KEYS.hints(places(), controls), ends: QUIT_HINTS };
    },
    helpTables: () => WORKBENCH_KEYS.tables(places()),
    press: pressed => pressScreen(target, pressed),
    event(event) {
      effects.tellTime(event);
      store.dispatch({ type: 'changed' });
    },
    onSeen: place => store.dispatch({ type: 'seen', place }),
    changed() {
      store.dispatch({ type: 'changed' });
      showRestarts();
      openStart();
    },
  };
}

/** Ends the search, or goes to the page before. */
function goBack({ store }: Workbench): void {
  const state = store.state();
  const { wanted } = state.page === 'calls' ? state.calls : state.tools;
  if (state.page !== 'form' && wanted !== null) return void store.dispatch({ type: 'endSearch' });
  const isEdited = state.page === 'form' && currentForm(state)?.about !== null;
  store.dispatch({ type: 'forgetKey' });
  store.dispatch({ type: 'go', page: isEdited ? 'calls' : 'tools' });
}

/** Quits; if calls are pending, only on the second press. */
function quitWorkbench({ model, controls, store, effects }: Workbench): void {
  const { warning } = store.state();
  const count = model.sources[0]?.callLog.underWay.size ?? 0;
  const isWarned = warning?.count === count && warning.until > effects.now();
  if (count === 0 || isWarned) return void controls.quit();
  const calls = count === 1 ? 'A call is' : `${count} calls are`;
  const text = `${calls} pending and will be canceled: press again to quit.`;
  const until = effects.note('key', [quote(text, 'bad')]);
  store.dispatch({ type: 'warn', warning: { count, until } });
}

/** Opens the requested form as soon as its operation is known, unless a key was pressed. */
function starter(workbench: Workbench, start: SessionOptions['start']): () => void {
  const { operation, server, arguments: read } = start;
  let isStarted = operation === undefined;
  return () => {
    if (isStarted || operation === undefined) return;
    const servers = workbench.model.servers.filter(({ id }) => server === undefined || id === server);
    const [match] = toolsNamed(servers, operation);
    isStarted = match !== undefined || areLoaded(servers);
    if (!match) {
      if (isStarted) suggestOperation(workbench, operation, servers, read);
      return;
    }
    const { isPressed } = workbench.store.state();
    openForm(workbench, match, { given: read?.(match.tool.inputSchema), isShown: !isPressed });
    if (isPressed)
      workbench.effects.say(
        `${match.tool.name} of ${match.server.about} is ready: its form is in Tools.`,
        'good',
      );
  };
}

/** Moves the arguments into the form of the operation that was probably meant. */
function suggestOperation(
  workbench: Workbench,
  wanted: string,
  servers: readonly Server[],
  read: SessionOptions['start']['arguments'],
): void {
  const { store } = workbench;
  const similar = nearest(
    wanted,
    servers.flatMap(each => toolsOf(each).map(({ name }) => name)),
  );
  const [match] = toolsNamed(servers, similar[0] ?? '');
  if (match && !store.state().isPressed)
    store.dispatch({ type: 'selectTool', key: entryKey(match.server.id, match.tool.name) });
  if (match && read) openForm(workbench, match, { given: read(match.tool.inputSchema), isShown: false });
  complain(
    workbench,
    [`No operation "${wanted}" is offered.`, suggestion(similar)].filter(Boolean).join(' '),
  );
}

function areLoaded(servers: readonly Server[]): boolean {
  const kinds = servers.map(({ state }) => state.kind);
  return kinds.includes('ready') && kinds.every(kind => kind === 'ready' || kind === 'failed');
}
