import { visibleLine } from '../../../text/visible.js';
import type { Purpose } from '../state/state.js';
import { bad, type House } from './house.js';

/** Asks for a line of text: what for decides what becomes of it. */
export function askFor(purpose: Purpose, { change }: Pick<House, 'change'>, text = ''): void {
  change({ overlay: { kind: 'prompt', prompt: { purpose, text, cursor: text.length } } });
}

/** Asks where to; the operation is a good name. */
export function askFixturePath(house: House): void {
  const { exchange } = house.looking;
  if (exchange?.settled) askFor('save-fixture', house, `${fileNameOf(exchange.invocation.operation)}.yaml`);
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
export async function fulfil(purpose: Exclude<Purpose, 'search'>, text: string, house: House): Promise<void> {
  const { controls, looking, world } = house;
  const value = text.trim();
  if (value === '') return;
  switch (purpose) {
    case 'server':
      house.say(controls.open(value));
      return house.change({ page: 'tools' });
    case 'transcript': {
      const said = await controls.openTranscript(value);
      house.say(said);
      if (said.isBad) return;
      const { calls } = house.state;
      return house.change({
        page: 'calls',
        calls: { ...calls, volume: world.volumes.length - 1, selected: null, focus: 'list' },
      });
    }
    case 'save-transcript':
      return house.say(await controls.saveTranscript(value));
    case 'save-fixture':
      if (looking.key !== null) house.say(await controls.saveFixture(looking.key, looking.index, value));
  }
}
