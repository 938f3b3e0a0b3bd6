import type { Key } from 'ink';
import { nearest, offer as suggestion } from '../../util/text.js';
import { BYTES_KEY, LIST_KEYS, READING_KEYS, tabKeys, unlessEmpty } from '../calls/list-detail.js';
import { fullScreen } from '../full-screen.js';
import { bind, type KeyBinding, type Place } from '../keys.js';
import { Actions, type Offer, offersOf } from './actions.js';
import { CALL_TABS } from './calls.js';
import type { Server, SessionOptions, WorkbenchOptions } from './model.js';
import { entryKey, TOOL_TABS, toolsOf } from './tools.js';
import { Workbench } from './workbench.js';

function enterHint({ tools: { entry }, page }: Workbench): string | null {
  if (!entry || page !== 'tools') return null;
  if (entry.kind === 'operation') return entry.definitions > 1 ? null : 'fill in';
  return { loading: null, asleep: 'start', failed: 'retry', ready: 'reload' }[entry.server.state.kind];
}

function removeHint({ tools: { entry } }: Workbench): string | null {
  return entry?.kind === 'server' && entry.server.state.kind === 'failed' ? 'remove' : null;
}

function restartHint({ tools: { entry } }: Workbench): string | null {
  return entry?.kind === 'server' && entry.server.output ? 'restart' : null;
}

/** The keys of a place and their actions. */
const keysOf =
  (place: Place) =>
  (key: string, does: string, run: (actions: Actions) => unknown, hint?: Binding[4], isUrgent = false) =>
    bind<Workbench>(place, key, does, w => void run(new Actions(w)), hint, isUrgent);

type Binding = Parameters<typeof bind<Workbench>>;

const anywhere = keysOf('everywhere');
const onTool = keysOf('tools');
const onCall = keysOf('calls');

export const WORKBENCH_KEYS: readonly KeyBinding<Workbench>[] = [
  bind(
    'everywhere',
    't',
    'tools and their operations',
    w => w.go('tools'),
    ({ page, list }) => (page === 'calls' && !list.isReading ? 'tools' : null),
  ),
  bind(
    'everywhere',
    'c',
    'calls and their outcomes',
    w => w.go('calls'),
    w => (w.page === 'tools' ? 'calls' : null),
  ),
  bind('everywhere', 'escape', 'back', w => w.back()),
  anywhere(
    'u',
    'open a tool server by its URL',
    a => a.askServer(),
    w => (w.page === 'tools' ? 'open a URL' : null),
  ),
  anywhere(
    'D',
    'open the demo, a tool bundled with this program',
    a => a.openServer('demo'),
    w => (w.tools.isEmpty && w.page === 'tools' ? 'demo' : null),
  ),
  anywhere(
    'p',
    'open a recent tool server',
    a => a.pickRecent(),
    w => (w.tools.isEmpty && w.page === 'tools' && w.world.recent.length > 0 ? 'recent' : null),
  ),
  anywhere('O', 'open a transcript', a => a.askTranscript()),
  anywhere('S', 'save the transcript of this session', a => a.askSaveTranscript()),
  bind('everywhere', '?', 'show or hide the keys', w => w.toggleHelp()),
  bind('everywhere', 'q ctrl+c', 'quit: pending calls are canceled', w => w.quit()),
  onTool('enter', 'open the form; on a server: start or reload it', a => a.enterEntry(), enterHint),
  onTool('x', 'remove a server that could not be reached', a => a.removeServer(), removeHint),
  onTool('R', 'restart the server', a => a.restartServer(), restartHint),
  ...tabKeys('tools', TOOL_TABS),
  ...LIST_KEYS,
  onCall(
    'a',
    "answer the tool's question",
    a => a.answerQuestion(),
    w => (w.waits.forChoice ? 'answer' : null),
    true,
  ),
  onCall(
    'o',
    'open the consent page',
    a => a.useConsentPage('visit'),
    w => (w.waits.forConsent ? 'consent page' : null),
    true,
  ),
  onCall(
    'x',
    'cancel the call, or its subscription',
    a => a.cancelCall(),
    w => (w.waits.isRunning ? 'cancel' : null),
    true,
  ),
  onCall('U', 'copy the URL of the consent page', a => a.useConsentPage('copy')),
  ...tabKeys('calls', CALL_TABS),
  BYTES_KEY,
  onCall('r', 'run the call again', a => a.runAgain(), unlessEmpty('run again')),
  onCall('e', 'edit it and run it again', a => a.editAgain(), unlessEmpty('edit')),
  onCall('y', 'copy as curl', a => a.copyCall('curl'), unlessEmpty('curl')),
  onCall('Y', 'copy as a command line', a => a.copyCall('command')),
  onCall('s', 'save as a fixture', a => a.askSaveFixture(), unlessEmpty('fixture')),
  bind('calls', '=', 'compare: marks this call, or shows it beside the marked one', w => w.compare()),
  bind('calls', 'V', 'the next open transcript', w => w.nextVolume()),
  ...READING_KEYS,
  keysOf('form')('ctrl+t', 'run with invalid arguments', a => a.runForm(false)),
  bind('form', 'ctrl+g', 'show or hide the keys', w => w.toggleHelp()),
  bind('form', 'escape', 'back; keeps the input', w => w.back()),
];

/** The workbench with its keys, opened as the command line requests. @param onChange see {@link ListScreen} */
export function createWorkbench(options: SessionOptions, onChange: () => void) {
  const workbench = new Workbench(options, WORKBENCH_KEYS, w => new Actions(w).runForm(), onChange);
  const actions = new Actions(workbench);
  const { operation, transcript, server, arguments: read } = options.start;
  let isDone = operation === undefined;
  let isPressed = false;
  const found = (offer: Offer) => {
    actions.openForm(offer, { given: read?.(offer.tool.inputSchema), isShown: !isPressed });
    const { tool, server } = offer;
    if (isPressed) workbench.say(`${tool.name} of ${server.about} is ready: its form is in Tools.`, 'good');
  };
  /** Moves the arguments into the form of the operation that was probably meant. */
  const missed = (wanted: string, servers: readonly Server[]) => {
    const names = servers.flatMap(each => toolsOf(each).map(({ name }) => name));
    const meant = nearest(wanted, names);
    const [offer] = offersOf(servers, meant[0] ?? '');
    if (offer && !isPressed) workbench.tools.set({ selected: entryKey(offer.server.id, offer.tool.name) });
    if (offer && read) actions.openForm(offer, { given: read(offer.tool.inputSchema), isShown: false });
    workbench.complain([`No operation "${wanted}" is offered.`, suggestion(meant)].filter(Boolean).join(' '));
  };
  if (transcript !== undefined) void actions.openTranscript(transcript);
  return {
    workbench,
    press(input: string, key: Key): void {
      isPressed = true;
      workbench.press(input, key);
    },
    frame: workbench.frame.bind(workbench),
    event: workbench.event.bind(workbench),
    /** Must be called after changes of servers. Opens the requested form as soon as its operation is known, unless a key was pressed. */
    changed(): void {
      if (isDone || operation === undefined) return;
      const servers = workbench.world.servers.filter(({ id }) => server === undefined || id === server);
      const [offer] = offersOf(servers, operation);
      isDone = offer !== undefined || areLoaded(servers);
      if (offer) found(offer);
      else if (isDone) missed(operation, servers);
    },
  };
}

function areLoaded(servers: readonly Server[]): boolean {
  const kinds = servers.map(({ state }) => state.kind);
  return kinds.includes('ready') && kinds.every(kind => kind === 'ready' || kind === 'failed');
}

export function workbenchScreen(options: WorkbenchOptions): { close(): Promise<void> } {
  const { subscribe, onEvent, ...stage } = options;
  const view = createWorkbench(options, () => screen.changed());
  const screen = fullScreen(view, stage);
  const changed = () => {
    view.changed();
    screen.changed();
  };
  const stops = [
    subscribe(changed),
    onEvent(event => {
      view.event(event);
      screen.changed();
    }),
  ];
  changed();
  return {
    async close() {
      for (const stop of stops) stop();
      await screen.close();
    },
  };
}
