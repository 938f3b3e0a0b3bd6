import { atList } from '../../calls/browsing.js';
import type { Said } from '../controls.js';
import { fixtureName, TRANSCRIPT_NAME } from '../offered.js';
import { serverEntryId } from '../state/entries.js';
import { isSamePlace } from '../state/same-place.js';
import type { CallPlace, Prompt, Purpose } from '../state/state.js';
import { bad, type House } from './house.js';

/** Asks for a line of text: what for decides what becomes of it. */
export function askFor(
  purpose: Purpose,
  { change }: Pick<House, 'change'>,
  text = '',
  about: CallPlace | null = null,
): void {
  change({ overlay: { kind: 'prompt', prompt: { purpose, text, cursor: text.length, about } } });
}

export function askTranscriptPath(house: House): void {
  void askWhere('save-transcript', house, TRANSCRIPT_NAME);
}

export function askFixturePath(house: House): void {
  const { exchange, volume } = house.looking;
  if (exchange?.settled)
    void askWhere('save-fixture', house, fixtureName(exchange.invocation.operation), {
      key: exchange.key,
      volume: volume.id,
    });
  else
    house.say(
      bad(
        exchange ? 'Nothing came of the call yet that a fixture could replay.' : 'There is no call to save.',
      ),
    );
}

/** Offers a name that nothing has, as soon as that is known; whoever types already is left alone. */
async function askWhere(
  purpose: Purpose,
  house: House,
  name: string,
  about: CallPlace | null = null,
): Promise<void> {
  askFor(purpose, house, name, about);
  const { overlay: asked } = house.state;
  const free = await house.controls.freeName(name);
  if (house.state.overlay === asked) askFor(purpose, house, free, about);
}

/** What was typed is done. */
export function fulfil(prompt: Prompt, house: House): void {
  const { purpose, text, about } = prompt;
  const { controls } = house;
  const value = text.trim();
  if (value === '') return;
  if (purpose === 'server') openServer(prompt, value, house);
  else if (purpose === 'transcript') void openTranscript(prompt, value, house);
  else if (purpose === 'save-transcript') void tell(prompt, house, controls.saveTranscript(value));
  else if (about) void tell(prompt, house, controls.saveFixture(about.key, about.volume, value));
}

/** Its row is selected: what it offers will be below. */
function openServer(prompt: Prompt, target: string, house: House): void {
  const opened = house.controls.open(target);
  const { tools } = house.state;
  if ('isBad' in opened) askAgain(prompt, house, opened);
  else
    house.change({ page: 'tools', tools: { ...tools, selected: serverEntryId(opened.server), scroll: 0 } });
}

/** What was opened is shown, though not all of it could be read; nobody who is typing meanwhile is led away. */
async function openTranscript(prompt: Prompt, path: string, house: House): Promise<void> {
  const { controls, world } = house;
  const known = new Set(world.volumes);
  const before = house.state;
  const said = await controls.openTranscript(path);
  const volume = world.volumes.find(each => !known.has(each)); // one that is opened again replaces what it was
  if (!volume && said.isBad && isSamePlace(before, house.state)) return askAgain(prompt, house, said);
  house.say(said);
  const { calls, overlay, page } = house.state;
  if (!volume || overlay || page === 'form') return;
  house.change({ page: 'calls', calls: { ...atList(calls), volume: volume.id, selected: null } });
}

/** What came of it. */
async function tell(prompt: Prompt, house: House, work: Promise<Said>): Promise<void> {
  const before = house.state;
  const said = await work;
  if (said.isBad && isSamePlace(before, house.state)) askAgain(prompt, house, said);
  else house.say(said);
}

/** The line is there again, to be mended. */
function askAgain(prompt: Prompt, house: House, said: Said): void {
  house.change({ overlay: { kind: 'prompt', prompt } });
  house.say(said);
}
