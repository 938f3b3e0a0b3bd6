import type { ToolCall } from '../../exchange/tool-call.js';
import type { Command } from './bindings.js';
import type { MockControls } from './options.js';
import type { State } from './state.js';

/** What a doing works with. */
export interface Workplace {
  readonly controls: MockControls;
  readonly state: State;
  /** The call that is looked at. */
  readonly call: ToolCall | undefined;
  /** The selected one is not remembered any more. */
  readonly isForgotten: boolean;
}

/** What came of a doing. */
export interface Done {
  /** For the person; null where something else will say it. */
  readonly said: string | null;
  readonly change?: Partial<State>;
}

/** Does to the mock what a command asks for; null where it asks for nothing of it. */
export function perform(command: Command, place: Workplace): Done | null {
  switch (command) {
    case 'pause':
      return pause(place);
    case 'replay':
      return { said: replay(place) };
    case 'fire':
      return { said: fire(place) };
    case 'reload':
      place.controls.reload();
      return { said: null };
    case 'quit':
      place.controls.quit();
      return { said: 'Ending: what is pending is delivered first.' };
    default:
      return null;
  }
}

/** Only so many are remembered. */
export const FORGOTTEN = 'The selected call is forgotten: ↑ and ↓ select another, G the newest.';

function pause({ controls, state }: Workplace): Done {
  const isPaused = !state.isPaused;
  if (isPaused) controls.pause();
  else controls.resume();
  const said = isPaused ? 'Deliveries are held back until p is pressed again.' : 'Deliveries go on.';
  return { said, change: { isPaused } };
}

function replay({ controls, call, isForgotten }: Workplace): string {
  if (!call) return isForgotten ? FORGOTTEN : 'There is no call to replay.';
  return controls.redeliver(call.key)
    ? 'The last callback of the call is sent once more.'
    : 'The call has no callback that could be sent again.';
}

function fire({ controls, call, isForgotten }: Workplace): string {
  if (!call?.addressee) return isForgotten ? FORGOTTEN : 'There is no call to fire.';
  const fired = controls.fire(call.addressee.id, call.addressee.group_id);
  return fired > 0 ? 'Fired.' : 'The call waits for nothing that could be fired.';
}
