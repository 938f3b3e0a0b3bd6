import { visibleLine } from '../../../text/visible.js';
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

/** Asks where to; the operation is a good name. */
export function askFixturePath(house: House): void {
  const { exchange, volume } = house.looking;
  if (exchange?.settled)
    askFor('save-fixture', house, `${fileNameOf(exchange.invocation.operation)}.yaml`, {
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

/** What a file system takes: a foreign name is no path. */
function fileNameOf(operation: string): string {
  return (
    visibleLine(operation)
      .replaceAll(/[^\p{L}\p{N}_.-]+/gu, '_')
      .replace(/^\.+/, '')
      .slice(0, 60) || 'fixture'
  );
}

/** What was typed is done. */
export async function fulfil({ purpose, text, about }: Prompt, house: House): Promise<void> {
  const { controls } = house;
  const value = text.trim();
  if (value === '') return;
  switch (purpose) {
    case 'server':
      house.say(controls.open(value));
      return house.change({ page: 'tools' });
    case 'transcript':
      return openTranscript(value, house);
    case 'save-transcript':
      return house.say(await controls.saveTranscript(value));
    case 'save-fixture':
      if (about) house.say(await controls.saveFixture(about.key, about.volume, value));
  }
}

/** What was opened is shown, though not all of it could be read; nobody who is typing meanwhile is led away. */
async function openTranscript(path: string, house: House): Promise<void> {
  const { controls, world } = house;
  const known = new Set(world.volumes);
  house.say(await controls.openTranscript(path));
  const { calls, overlay, page } = house.state;
  const volume = world.volumes.find(each => !known.has(each)); // one that is opened again replaces what it was
  if (!volume || overlay || page === 'form') return;
  house.change({ page: 'calls', calls: { ...calls, volume: volume.id, selected: null, focus: 'list' } });
}
