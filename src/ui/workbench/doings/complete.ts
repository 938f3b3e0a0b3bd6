import { completed } from '../../prompt/complete.js';
import type { Prompt } from '../state/state.js';
import { bad, good, type House } from './house.js';

/** Names that are told; of more they are counted. */
const MOST = 30;

/** Goes on with what is typed as far as that is certain, and tells what it may be. Whoever has typed on meanwhile is left alone. */
export async function complete(prompt: Prompt, house: House): Promise<void> {
  const typed = prompt.text.slice(0, prompt.cursor);
  const found = await candidatesFor(prompt, typed, house);
  const { overlay } = house.state;
  if (overlay?.kind !== 'prompt' || overlay.prompt !== prompt || found === null) return;
  house.change({ overlay: { ...overlay, prompt: completed(prompt, found) } });
  if (found.length !== 1)
    house.say(found.length === 0 ? bad(`Nothing begins with ${typed}`) : good(listed(found)));
}

/** Null where there is nothing that could be known. */
async function candidatesFor(
  { purpose }: Prompt,
  typed: string,
  { controls, world }: House,
): Promise<readonly string[] | null> {
  if (purpose === 'search') return null;
  if (purpose !== 'server') return controls.paths(typed);
  const known = world.servers.map(({ about }) => about).filter(about => URL.canParse(about));
  return ['demo', ...known].filter(word => word.startsWith(typed)).sort();
}

/** Without the folder that they are all in. */
function listed(found: readonly string[]): string {
  const names = found.map(path => path.replace(/^.*\/(?=.)/, ''));
  const rest = names.length - MOST;
  return [...names.slice(0, MOST), ...(rest > 0 ? [`and ${rest} more`] : [])].join('  ');
}
