import type { Errand } from '../../exchange/history.js';
import type { Line } from '../line.js';
import { quote, say } from '../spans.js';
import { after, type Step, step } from './step.js';

/** Notices, told once it is known what became of them. */
const NOTICES: Readonly<Partial<Record<Errand['purpose'], string>>> = {
  close: 'thread closed',
  cancel: 'call cancelled',
  choice: 'selection sent',
};

/** Discovery while it goes on or where it failed, and notices that went out. */
export function errandSteps(errand: Errand): Step[] {
  const { leg, purpose, at, endedAt, status } = errand;
  if (purpose === 'discovery') return discoverySteps(errand);
  const notice = NOTICES[purpose];
  if (notice === undefined || endedAt === undefined) return [];
  const answer = status === undefined ? 'not answered' : `answered ${status}`;
  const state = status === 200 ? 'done' : 'note';
  return [step(`errand:${leg}`, endedAt, state, say(`${notice}, ${answer}`), after(endedAt - at))];
}

/** A discovery that went well is told by what was loaded. */
function discoverySteps({ leg, url, at, endedAt, status, broken }: Errand): Step[] {
  const key = `errand:${leg}`;
  if (endedAt === undefined) return [step(key, at, 'running', say('asking '), ...quote(url))];
  if (status === 200) return [];
  const answer = status === undefined ? `could not be asked: ${broken ?? 'broken'}` : `answered ${status}`;
  return [step(key, endedAt, 'failed', ...quote(url), say(` ${answer}`), after(endedAt - at))];
}

/** POSTs that reached the listener but no call: one step for each reason, however many there are. */
export function straySteps(errands: Iterable<Errand>): Step[] {
  const steps = new Map<string, Step>();
  for (const errand of errands) {
    const { purpose, status, refusal = '', at } = errand;
    if (purpose !== 'callback' || status === undefined || steps.has(refusal)) continue;
    steps.set(refusal, step(`stray:${refusal}`, at, 'failed', ...stray(errand)));
  }
  return [...steps.values()];
}

function stray({ status, refusal = '' }: Errand): Line {
  if (refusal === 'wrong-address') return [say('a post to a wrong callback address, answered 404')];
  return [say(`a request to the callback listener, refused with ${status}: `), ...quote(refusal)];
}
