import type { ToolCall } from '../../events/tool-call.js';
import type { ColourLevel } from '../../render/terminal/colour-level.js';
import type { Clock } from '../../system/clock.js';
import { copyToClipboard } from '../clipboard.js';
import type { FullScreenOptions } from '../full-screen.js';
import { bind, Keys } from '../keys.js';
import { LIST_KEYS, READING_KEYS, tabKeys, unlessEmpty } from '../list/list-keys.js';
import { fullScreenList } from '../live-list/full-screen-list.js';
import { createLiveList, type LiveListControls } from '../live-list/live-list.js';
import type { ActionResult } from '../screen/effects.js';
import { MISSING, MOCK_TABS, mockCalls, type ShownMock } from './mock-calls.js';

interface MockControls {
  readonly pause: () => void;
  readonly resume: () => void;
  /** Sends the last callback of a call again; false if absent. */
  readonly redeliver: (key: string) => boolean;
  /** Sends the callbacks that the calls with this id in this thread wait for; returns the number of those calls. */
  readonly fire: (id: string, groupId: string) => number;
  /** Reloads the fixture files, and reports the result as a notice. */
  readonly reload: () => void;
  /** Called for `q` or Ctrl-C, each time. The caller stops the mock, then closes the screen. */
  readonly quit: () => void;
}

interface MockOptions extends Omit<ShownMock, 'isPaused'> {
  readonly controls: MockControls;
  /** Copies to the clipboard of the terminal. */
  readonly copy: (text: string) => ActionResult;
  readonly clock: Clock;
  readonly level: ColourLevel;
}

/** What the keys of a mock act on. */
interface MockKeyControls extends LiveListControls<ToolCall> {
  readonly togglePause: () => void;
  readonly reload: () => void;
  readonly replay: () => void;
  readonly fire: () => void;
}

export const MOCK_KEYS = new Keys<MockKeyControls>([
  bind('everywhere', 'p', 'pause or resume deliveries', mock => mock.togglePause(), 'pause/resume'),
  bind('everywhere', 'R', 'reload the fixture files', mock => mock.reload(), 'reload'),
  bind('everywhere', '?', 'show or hide the keys', mock => mock.effects.showHelp()),
  bind('everywhere', 'q ctrl+c', 'quit: pending deliveries are sent first', mock => mock.quit()),
  ...LIST_KEYS,
  ...tabKeys('calls', MOCK_TABS),
  bind<MockKeyControls>(
    'calls',
    'r',
    'send the last callback again',
    mock => mock.replay(),
    unlessEmpty('replay'),
  ),
  bind<MockKeyControls>(
    'calls',
    'f',
    'send what the call waits for: an event, a consent, the default choice',
    mock => mock.fire(),
    unlessEmpty('fire'),
  ),
  ...READING_KEYS,
]);

/** The screen of a mock: its calls, and what the keys ask of the mock. */
export function createMockScreen({ controls, copy, clock, level, ...shown }: MockOptions) {
  let isPaused = false;
  const togglePause = ({ effects }: LiveListControls<ToolCall>) => {
    isPaused = !isPaused;
    if (isPaused) controls.pause();
    else controls.resume();
    effects.say(isPaused ? 'Deliveries are held back until p is pressed again.' : 'Deliveries go on.');
  };
  return createLiveList({
    source: (now, onChange) => mockCalls({ ...shown, isPaused: () => isPaused }, now, onChange),
    keys: MOCK_KEYS,
    copy,
    clock,
    level,
    controls: base => ({
      ...base,
      togglePause: () => togglePause(base),
      reload: controls.reload,
      replay: () => replay(base, controls),
      fire: () => fire(base, controls),
    }),
    quit(effects) {
      controls.quit();
      effects.say('Ending: pending deliveries are sent first.');
    },
  });
}

function replay(list: LiveListControls<ToolCall>, { redeliver }: MockControls): void {
  const call = selectedCall(list, 'replay');
  if (!call) return;
  list.effects.say(
    redeliver(call.key)
      ? 'The last callback of the call is sent once more.'
      : 'The call has no callback that could be sent again.',
  );
}

function fire(list: LiveListControls<ToolCall>, controls: MockControls): void {
  const { addressee } = selectedCall(list, 'fire') ?? {};
  if (!addressee) return;
  const count = controls.fire(addressee.id, addressee.group_id);
  list.effects.say(count > 0 ? 'Sent.' : 'The call waits for nothing that could be sent.');
}

function selectedCall(list: LiveListControls<ToolCall>, action: string): ToolCall | undefined {
  const call = list.selected();
  if (!call) list.effects.say(list.isListEmpty() ? `No call to ${action}.` : MISSING);
  return call;
}

/** Shows the calls of a mock full screen. It only listens, and never blocks the mock. Needs a terminal on stdin and stdout. */
export function mockScreen(options: Omit<MockOptions, 'copy'> & FullScreenOptions) {
  const copy = (text: string) => copyToClipboard(options.stdout, text);
  return fullScreenList(createMockScreen({ ...options, copy }), options);
}
