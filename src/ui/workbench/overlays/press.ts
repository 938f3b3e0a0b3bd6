import { nameOf, type Press } from '../../keys/key-names.js';
import { pressedOnPage } from '../../keys/scroll.js';
import { stepPicker } from '../../live/picker.js';
import { stepPrompt } from '../../prompt/step.js';
import { complete } from '../doings/complete.js';
import { decline } from '../doings/consent.js';
import { fulfil } from '../doings/files.js';
import type { House } from '../doings/house.js';
import { send } from '../doings/send.js';
import { isKeyIn } from '../keys/command-for.js';
import { pickerCommandOf } from '../keys/picker-command.js';
import type { Overlay } from '../state/state.js';

type Of<Kind extends Overlay['kind']> = Extract<Overlay, { kind: Kind }>;

/** What is beneath, for what is meant for that. */
export interface Beneath {
  readonly search: (wanted: string) => void;
  readonly press: (press: Press) => void;
}

/** What a key does to what stands between a person and the rest. */
export function pressOverlay(overlay: Overlay, press: Press, house: House, beneath: Beneath): void {
  if (nameOf(press) === 'escape') leave(overlay, house);
  else if (overlay.kind === 'prompt') pressPrompt(overlay, press, house, beneath);
  else if (overlay.kind === 'question' || overlay.kind === 'consent') pressPicker(overlay, press, house);
  else pressPage(overlay, press, house, beneath);
}

/** A question of ours that is left is a no. */
function leave(overlay: Overlay, house: House): void {
  house.change({ overlay: null });
  if (overlay.kind === 'consent') void decline(house, overlay.order);
}

function pressPrompt(overlay: Of<'prompt'>, press: Press, house: House, { search }: Beneath): void {
  const { purpose, text } = overlay.prompt;
  if (nameOf(press) === 'tab') return void complete(overlay.prompt, house);
  const isDone = nameOf(press) === 'enter';
  house.change({ overlay: isDone ? null : { ...overlay, prompt: stepPrompt(overlay.prompt, press) } });
  if (!isDone) return;
  if (purpose === 'search') search(text);
  else fulfil(overlay.prompt, house);
}

function pressPicker(overlay: Of<'question' | 'consent'>, press: Press, house: House): void {
  const command = pickerCommandOf(nameOf(press));
  if (command === 'pick') pick(overlay, house);
  else if (command !== undefined) house.change({ overlay: stepped(overlay, command) });
}

function pick(overlay: Of<'question' | 'consent'>, house: House): void {
  const { selected } = overlay.picker;
  house.change({ overlay: null });
  if (overlay.kind === 'question') house.say(house.controls.answer(overlay.key, overlay.leg, selected));
  else if (selected === 0) void send(house, overlay.order, true);
  else void decline(house, overlay.order);
}

function stepped(
  overlay: Of<'question' | 'consent'>,
  command: Parameters<typeof stepPicker>[1],
): Of<'question' | 'consent'> {
  return overlay.kind === 'question'
    ? { ...overlay, picker: stepPicker(overlay.picker, command) }
    : { ...overlay, picker: stepPicker(overlay.picker, command) };
}

/** Whoever reads of a key in the help may press it: the page is gone then, and what it says is done. Beneath another page none acts. */
function pressPage(
  overlay: Of<'help' | 'copied'>,
  press: Press,
  { change, most, state }: House,
  beneath: Beneath,
): void {
  const pressed = pressedOnPage(nameOf(press), overlay.scroll, most);
  const isMeant = overlay.kind === 'help' && pressed === 'beneath' && isKeyIn(state, press);
  if (typeof pressed === 'number') change({ overlay: { ...overlay, scroll: pressed } });
  else if (pressed === 'close' || isMeant) change({ overlay: null });
  if (isMeant) beneath.press(press);
}
