import { BYTES_KEY, LIST_KEYS, READING_KEYS, tabKeys, unlessEmpty } from '../calls/list-detail.js';
import { bind, type Hint, type KeyBinding, urgent } from '../keys.js';
import {
  answerQuestion,
  cancelCall,
  editAgain,
  enterEntry,
  removeServer,
  restartServer,
  runAgain,
  runForm,
} from './actions.js';
import { copyCommand, copyConsentPage, copyCurl, visitConsentPage } from './copy.js';
import { askSaveFixture, askSaveTranscript, askServer, askTranscript, openDemo } from './prompts.js';
import { TABS } from './tabs.js';
import { TOOL_TABS } from './tools.js';
import type { Workbench } from './workbench.js';

type Key = KeyBinding<Workbench>;

/** What ⏎ does with the selected entry. */
function enterHint({ entry, page }: Workbench): Hint | null {
  if (!entry || page !== 'tools') return null;
  if (entry.kind === 'operation') return entry.definitions > 1 ? null : ['⏎', 'fill in'];
  const { kind } = entry.server.state;
  return kind === 'loading'
    ? null
    : ['⏎', kind === 'asleep' ? 'start' : kind === 'failed' ? 'retry' : 'reload'];
}

function restartHint({ entry }: Workbench): Hint | null {
  return entry?.kind === 'server' && entry.server.output ? ['R', 'restart'] : null;
}

function removeHint({ entry }: Workbench): Hint | null {
  return entry?.kind === 'server' && entry.server.state.kind === 'failed' ? ['x', 'remove'] : null;
}

/** Every key of the workbench but those that type. */
export const WORKBENCH_KEYS: readonly Key[] = [
  bind(
    'everywhere',
    't',
    't',
    'tools and their operations',
    w => w.go('tools'),
    ({ page, list }) => (page === 'calls' && !list.isReading ? ['t', 'tools'] : null),
  ),
  bind(
    'everywhere',
    'c',
    'c',
    'calls and their outcomes',
    w => w.go('calls'),
    ({ page }) => (page === 'tools' ? ['c', 'calls'] : null),
  ),
  bind('everywhere', 'escape', 'Esc', 'back', w => w.back()),
  bind(
    'everywhere',
    'u',
    'u',
    'open a tool server by its URL',
    w => askServer(w),
    ({ page }) => (page === 'tools' ? ['u', 'open a URL'] : null),
  ),
  bind('everywhere', 'D', 'D', 'open the demo, a tool bundled with this program', openDemo, w =>
    w.tools.isEmpty && w.page === 'tools' ? ['D', 'demo'] : null,
  ),
  bind('everywhere', 'O', 'O', 'open a transcript', w => askTranscript(w)),
  bind('everywhere', 'S', 'S', 'save the transcript of this session', askSaveTranscript),
  bind('everywhere', '?', '?', 'show or hide the keys', w => w.toggleHelp()),
  bind('everywhere', 'q ctrl+c', 'q Ctrl-C', 'quit: pending calls are canceled', w => w.quit()),
  bind('tools', 'enter', '⏎', 'open the form; on a server: start or reload it', enterEntry, enterHint),
  bind('tools', 'x', 'x', 'remove a server that could not be reached', removeServer, removeHint),
  bind('tools', 'R', 'R', 'restart the server', restartServer, restartHint),
  ...tabKeys('tools', TOOL_TABS),
  ...LIST_KEYS,
  urgent(
    bind('calls', 'a', 'a', "answer the tool's question", answerQuestion, w =>
      w.waits.forChoice ? ['a', 'answer'] : null,
    ),
  ),
  urgent(
    bind(
      'calls',
      'o',
      'o',
      'open the consent page',
      w => void visitConsentPage(w),
      w => (w.waits.forConsent ? ['o', 'consent page'] : null),
    ),
  ),
  urgent(
    bind(
      'calls',
      'x',
      'x',
      'cancel the call, or its subscription',
      w => void cancelCall(w),
      w => (w.waits.isRunning ? ['x', 'cancel'] : null),
    ),
  ),
  bind('calls', 'U', 'U', 'copy the URL of the consent page', copyConsentPage),
  ...tabKeys('calls', TABS),
  BYTES_KEY,
  bind('calls', 'r', 'r', 'run the call again', runAgain, unlessEmpty('r', 'run again')),
  bind('calls', 'e', 'e', 'edit it and run it again', editAgain, unlessEmpty('e', 'edit')),
  bind('calls', 'y', 'y', 'copy as curl', copyCurl, unlessEmpty('y', 'curl')),
  bind('calls', 'Y', 'Y', 'copy as a command line', w => void copyCommand(w)),
  bind('calls', 's', 's', 'save as a fixture', askSaveFixture, unlessEmpty('s', 'fixture')),
  bind('calls', '=', '=', 'compare: marks this call, or shows it beside the marked one', w => w.compare()),
  bind('calls', 'V', 'V', 'the next open transcript', w => w.nextVolume()),
  ...READING_KEYS,
  bind('form', 'ctrl+t', 'Ctrl-T', 'run with invalid arguments', w => runForm(w, false)),
  bind('form', 'ctrl+g', 'Ctrl-G', 'show or hide the keys', w => w.toggleHelp()),
  bind('form', 'escape', 'Esc', 'back; keeps the input', w => w.back()),
];
