import { MADE_CALL_TABS, TOOL_TABS } from '../calls/tabs.js';
import { bind, Keys } from '../keys.js';
import { isEmpty } from '../list/list.js';
import type { ListControls } from '../list/list-controls.js';
import { LIST_KEYS, READING_KEYS, tabKeys, unlessEmpty } from '../list/list-keys.js';
import { EDITING_KEYS } from '../text-input.js';
import { askFor } from './ask.js';
import { askAnswer, cancelCall, compareCall, copyCall, useConsentPage } from './call-actions.js';
import { askSaveFixture, askSaveTranscript, showNextSource } from './files.js';
import { FORM_KEYS } from './form/press.js';
import { isReadingPage } from './places.js';
import { editAgain, runAgain } from './rerun.js';
import { runForm } from './run.js';
import {
  askRecentServer,
  enterEntry,
  openServerOrReport,
  removeServer,
  restartServer,
  restartServerOfCall,
} from './servers.js';
import { selectedTool, serverOfCall, type Workbench, waitsOf } from './workbench.js';

/** What the keys of the workbench act on. */
export interface WorkbenchControls extends ListControls, Workbench {
  readonly back: () => void;
  readonly quit: () => void;
  /** A key that only the form knows. */
  readonly pressInForm: (key: string) => void;
}

const bound = bind<WorkbenchControls>;

const pageOf = ({ store }: Workbench) => store.state().page;

const hasNoServers = (workbench: Workbench) => isEmpty(workbench.tools().list);

function enterHint(workbench: Workbench): string | null {
  const entry = selectedTool(workbench);
  if (!entry || pageOf(workbench) !== 'tools') return null;
  if (entry.tool) return entry.definitions > 1 ? null : 'fill in';
  return { loading: null, unstarted: 'start', failed: 'retry', ready: 'reload' }[entry.server.state.kind];
}

function removeHint(workbench: Workbench): string | null {
  const entry = selectedTool(workbench);
  return entry?.tool === null && entry.server.state.kind === 'failed' ? 'remove' : null;
}

function restartHint(workbench: Workbench): string | null {
  const entry = selectedTool(workbench);
  return entry?.tool === null && entry.server.output ? 'restart' : null;
}

function restartCallHint(workbench: Workbench): string | null {
  return serverOfCall(workbench)?.state.kind === 'failed' ? 'restart' : null;
}

const onTools = (hint: string) => (workbench: Workbench) => (pageOf(workbench) === 'tools' ? hint : null);

/** A key of calls that wait for it. */
function whileWaiting(
  what: keyof ReturnType<typeof waitsOf>,
  key: string,
  does: string,
  hint: string,
  run: (workbench: Workbench) => void,
) {
  return bound('calls', key, does, run, workbench => (waitsOf(workbench)[what] ? hint : null), {
    isUrgent: true,
  });
}

/** What the screen does with keys in a prompt. */
const PROMPT_KEYS = [
  ['tab', 'complete a path, or list the candidates'] as const,
  ...EDITING_KEYS.map(({ keys, does }) => [keys, does] as const),
  ['enter', 'accept'] as const,
  ['escape ctrl+c', 'cancel'] as const,
].map(([keys, does]) => bound('prompt', keys, does, () => {}));

export const WORKBENCH_KEYS = new Keys<WorkbenchControls>([
  ...FORM_KEYS.map(([keys, does]) => {
    const [name = ''] = keys.split(' ');
    return bound('form', keys, does, w => w.pressInForm(name));
  }),
  bound(
    'everywhere',
    't',
    'tools and their operations',
    w => w.store.dispatch({ type: 'go', page: 'tools' }),
    w => (pageOf(w) === 'calls' && !isReadingPage(w.store.state()) ? 'tools' : null),
  ),
  bound(
    'everywhere',
    'c',
    'calls and their outcomes',
    w => w.store.dispatch({ type: 'go', page: 'calls' }),
    onTools('calls'),
  ),
  bound('everywhere', 'escape', 'back', w => w.back()),
  bound(
    'everywhere',
    'u',
    'open a tool server by its URL',
    w => askFor(w, { kind: 'openServer' }),
    onTools('open a URL'),
  ),
  bound(
    'everywhere',
    'D',
    'open the demo, a tool bundled with this program',
    w => openServerOrReport(w, 'demo'),
    w => (hasNoServers(w) && pageOf(w) === 'tools' ? 'demo' : null),
  ),
  bound(
    'everywhere',
    'p',
    'open a recent tool server',
    w => askRecentServer(w),
    w => (hasNoServers(w) && pageOf(w) === 'tools' && w.model.recent.length > 0 ? 'recent' : null),
  ),
  bound('everywhere', 'O', 'open a transcript', w => askFor(w, { kind: 'openTranscript' })),
  bound('everywhere', 'S', 'save the transcript of this session', w => void askSaveTranscript(w)),
  bound('everywhere', '?', 'show or hide the keys', w => w.effects.showHelp()),
  bound('everywhere', 'q ctrl+c', 'quit: pending calls are canceled', w => w.quit()),
  bound('tools', 'enter', 'open the form; on a server: start or reload it', enterEntry, enterHint),
  bound('tools', 'x', 'remove a server that could not be reached', removeServer, removeHint),
  bound('tools', 'R', 'restart the server', restartServer, restartHint),
  ...tabKeys('tools', TOOL_TABS),
  ...LIST_KEYS,
  whileWaiting('forChoice', 'a', "answer the tool's question", 'answer', askAnswer),
  whileWaiting(
    'forConsent',
    'o',
    'open the consent page',
    'consent page',
    w => void useConsentPage(w, 'visit'),
  ),
  whileWaiting('isRunning', 'x', 'cancel the call, or its subscription', 'cancel', w => void cancelCall(w)),
  bound('calls', 'U', 'copy the URL of the consent page', w => void useConsentPage(w, 'copy')),
  ...tabKeys('calls', MADE_CALL_TABS),
  bound('calls', 'R', 'restart the server of the call', restartServerOfCall, restartCallHint),
  bound('calls', 'r', 'run the call again', runAgain, unlessEmpty('run again')),
  bound('calls', 'e', 'edit it and run it again', editAgain, unlessEmpty('edit')),
  bound('calls', 'y', 'copy as curl', w => copyCall(w, 'curl'), unlessEmpty('curl')),
  bound('calls', 'Y', 'copy as a command line', w => copyCall(w, 'command')),
  bound('calls', 's', 'save as a fixture', w => void askSaveFixture(w), unlessEmpty('fixture')),
  bound('calls', '=', 'compare: marks this call, or shows it beside the marked one', compareCall),
  bound('calls', 'V', 'the next open transcript', showNextSource),
  ...READING_KEYS,
  bound('form', 'ctrl+t', 'run with invalid arguments', w => runForm(w, false)),
  bound('form', 'ctrl+g', 'show or hide the keys', w => w.effects.showHelp()),
  bound('form', 'escape', 'back; keeps the input', w => w.back()),
  ...PROMPT_KEYS,
]);
