import type { History, LoadedToolset } from '../../exchange/history.js';
import { quote, say } from '../spans.js';
import { type Step, step, within } from './step.js';

/** Discovery, told once its toolset is loaded. */
export function loadedStep({ errands }: History, { at, name, base, operations }: LoadedToolset): Step {
  const asked = [...errands.values()].find(({ purpose }) => purpose === 'discovery');
  const count = `${operations.length} operation${operations.length === 1 ? '' : 's'}`;
  const where = base === null ? [] : [say(' at '), ...quote(base)];
  return step(
    `loaded:${at}`,
    at,
    'done',
    say('discovered '),
    ...quote(name, 'title'),
    say(` (${count})`),
    ...where,
    within(at - (asked?.at ?? 0)),
  );
}
