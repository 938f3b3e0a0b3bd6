import { nameOf, type Press } from '../../keys/key-names.js';
import { scrolledBy } from '../../keys/scroll.js';
import { stepPicker } from '../../live/picker.js';
import { stepPrompt } from '../../prompt/step.js';
import { complete } from '../doings/complete.js';
import { decline } from '../doings/consent.js';
import { fulfil } from '../doings/files.js';
import type { House } from '../doings/house.js';
import { send } from '../doings/send.js';
import { pickerCommandOf } from '../keys/picker-command.js';
import type { Overlay } from '../state/state.js';

type Of<Kind extends Overlay['kind']> = Extract<Overlay, { kind: Kind }>;

/** What a key does to what stands between a person and the rest. @param search takes what is searched for */
export function pressOverlay(
  overlay: Overlay,
  press: Press,
  house: House,
  search: (wanted: string) => void,
): void {
  if (nameOf(press) === 'escape') leave(overlay, house);
  else if (overlay.kind === 'prompt') pressPrompt(overlay, press, house, search);
  else if (overlay.kind === 'question' || overlay.kind === 'consent') pressPicker(overlay, press, house);
  else pressPage(overlay, press, house);
}

/** A question of ours that is left is a no. */
function leave(overlay: Overlay, house: House): void {
  house.change({ overlay: null });
  if (overlay.kind === 'consent') void decline(house, overlay.order);
}

function pressPrompt(
  overlay: Of<'prompt'>,
  press: Press,
  house: House,
  search: (wanted: string) => void,
): void {
  const { purpose, text } = overlay.prompt;
  if (nameOf(press) === 'tab') return void complete(overlay.prompt, house);
  const isDone = nameOf(press) === 'enter';
  house.change({ overlay: isDone ? null : { ...overlay, prompt: stepPrompt(overlay.prompt, press) } });
  if (!isDone) return;
  if (purpose === 'search') search(text);
  else void fulfil(overlay.prompt, house);
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

/** A page is read, then any other key closes it. */
function pressPage(overlay: Of<'help' | 'copied'>, press: Press, { change, most }: House): void {
  const scroll = scrolledBy(nameOf(press), overlay.scroll, most);
  change({ overlay: scroll === null ? null : { ...overlay, scroll } });
}
