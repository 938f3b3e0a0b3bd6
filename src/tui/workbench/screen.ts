import { BYTES_KEY, LIST_KEYS, READING_KEYS, tabKeys, unlessEmpty } from '../calls/list-detail.js';
import { fullScreen } from '../full-screen.js';
import { bind, type KeyBinding } from '../keys.js';
import { Workbench } from './actions.js';
import { CALL_TABS } from './calls.js';
import type { SessionOptions, WorkbenchOptions } from './model.js';
import { TOOL_TABS } from './tools.js';

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

const onTools =
  (hint: string) =>
  ({ page }: Workbench) =>
    page === 'tools' ? hint : null;

const bound = bind<Workbench>;

/** A key of calls that wait for it. */
function whileWaiting(
  what: keyof Workbench['waits'],
  key: string,
  does: string,
  hint: string,
  run: (workbench: Workbench) => void,
) {
  return bound('calls', key, does, run, ({ waits }) => (waits[what] ? hint : null), true);
}

export const WORKBENCH_KEYS: readonly KeyBinding<Workbench>[] = [
  bound(
    'everywhere',
    't',
    'tools and their operations',
    w => w.go('tools'),
    ({ page, list }) => (page === 'calls' && !list.isReading ? 'tools' : null),
  ),
  bound('everywhere', 'c', 'calls and their outcomes', w => w.go('calls'), onTools('calls')),
  bound('everywhere', 'escape', 'back', w => w.back()),
  bound('everywhere', 'u', 'open a tool server by its URL', w => w.askServer(), onTools('open a URL')),
  bound(
    'everywhere',
    'D',
    'open the demo, a tool bundled with this program',
    w => w.openServer('demo'),
    w => (w.tools.isEmpty && w.page === 'tools' ? 'demo' : null),
  ),
  bound(
    'everywhere',
    'p',
    'open a recent tool server',
    w => w.pickRecent(),
    w => (w.tools.isEmpty && w.page === 'tools' && w.model.recent.length > 0 ? 'recent' : null),
  ),
  bound('everywhere', 'O', 'open a transcript', w => w.askTranscript()),
  bound('everywhere', 'S', 'save the transcript of this session', w => w.askSaveTranscript()),
  bound('everywhere', '?', 'show or hide the keys', w => w.toggleHelp()),
  bound('everywhere', 'q ctrl+c', 'quit: pending calls are canceled', w => w.quit()),
  bound('tools', 'enter', 'open the form; on a server: start or reload it', w => w.enterEntry(), enterHint),
  bound('tools', 'x', 'remove a server that could not be reached', w => w.removeServer(), removeHint),
  bound('tools', 'R', 'restart the server', w => w.restartServer(), restartHint),
  ...tabKeys('tools', TOOL_TABS),
  ...LIST_KEYS,
  whileWaiting('forChoice', 'a', "answer the tool's question", 'answer', w => w.answerQuestion()),
  whileWaiting('forConsent', 'o', 'open the consent page', 'consent page', w => w.useConsentPage('visit')),
  whileWaiting('isRunning', 'x', 'cancel the call, or its subscription', 'cancel', w => w.cancelCall()),
  bound('calls', 'U', 'copy the URL of the consent page', w => w.useConsentPage('copy')),
  ...tabKeys('calls', CALL_TABS),
  BYTES_KEY,
  bound('calls', 'r', 'run the call again', w => w.runAgain(), unlessEmpty('run again')),
  bound('calls', 'e', 'edit it and run it again', w => w.editAgain(), unlessEmpty('edit')),
  bound('calls', 'y', 'copy as curl', w => w.copyCall('curl'), unlessEmpty('curl')),
  bound('calls', 'Y', 'copy as a command line', w => w.copyCall('command')),
  bound('calls', 's', 'save as a fixture', w => w.askSaveFixture(), unlessEmpty('fixture')),
  bound('calls', '=', 'compare: marks this call, or shows it beside the marked one', w => w.compare()),
  bound('calls', 'V', 'the next open transcript', w => w.nextSource()),
  ...READING_KEYS,
  bound('form', 'ctrl+t', 'run with invalid arguments', w => w.runForm(false)),
  bound('form', 'ctrl+g', 'show or hide the keys', w => w.toggleHelp()),
  bound('form', 'escape', 'back; keeps the input', w => w.back()),
];

export function createWorkbench(options: SessionOptions, onChange: () => void): Workbench {
  return new Workbench(options, WORKBENCH_KEYS, onChange);
}

export function workbenchScreen(options: WorkbenchOptions): { close(): Promise<void> } {
  const { view, close } = fullScreen(onChange => createWorkbench(options, onChange), options);
  const stop = options.onModelChange(() => view.changed());
  view.changed();
  return {
    close() {
      stop();
      return close();
    },
  };
}
