import type { Errand } from '../../exchange/errands.js';
import type { History } from '../../exchange/history.js';
import type { Line } from '../line.js';
import { quote, say } from '../spans.js';
import { after, type Step, step } from './step.js';

/** Notices, told once it is known what became of them. */
const NOTICES: Readonly<Partial<Record<Errand['purpose'], string>>> = {
  close: 'thread closed',
  cancel: 'call cancelled',
};

/** Discovery while it goes on or where it failed, the user's selection, and notices that went out. */
export function errandSteps(history: History, errand: Errand): Step[] {
  const { leg, purpose, at, endedAt, status } = errand;
  if (purpose === 'discovery') return discoverySteps(errand);
  if (endedAt === undefined) return [];
  if (purpose === 'choice') return [selectionStep(history, errand, endedAt)];
  const notice = NOTICES[purpose];
  if (notice === undefined) return [];
  const answer = status === undefined ? 'not answered' : `answered ${status}`;
  const state = status === 200 ? 'done' : 'note';
  return [step(`errand:${leg}`, endedAt, state, say(`${notice}, ${answer}`), after(endedAt - at))];
}

/** A discovery that went well is told by what was loaded. */
function discoverySteps({ leg, url, at, endedAt, status, broken }: Errand): Step[] {
  const key = `errand:${leg}`;
  if (endedAt === undefined) return [step(key, at, 'running', ...going(url))];
  if (status === 200) return [];
  const answer = status === undefined ? `could not be asked: ${broken ?? 'broken'}` : `answered ${status}`;
  return [step(key, endedAt, 'failed', ...quote(url), say(` ${answer}`), after(endedAt - at))];
}

/** A server that is started has no address: its endpoint names its program. */
function going(url: string): Line {
  const program = /^stdio:(.*)$/.exec(url)?.[1];
  return program === undefined ? [say('asking '), ...quote(url)] : [say('starting '), ...quote(program)];
}

/** Where a selection did not arrive, the tool goes on waiting for it, and so does the call. */
function selectionStep(history: History, { leg, calls, at, status, broken }: Errand, endedAt: number): Step {
  const took = after(endedAt - at);
  if (status === 200)
    return step(`errand:${leg}`, endedAt, 'done', say('selection sent, answered 200'), took);
  const why = status === undefined ? (broken ?? 'not answered') : `answered ${status} instead of 200`;
  const isPending = calls.some(key => {
    const { settled = null } = history.exchanges.get(key) ?? {};
    return settled === null || settled.at > endedAt;
  });
  const pending = isPending ? [say('; the call stays pending')] : [];
  return step(
    `errand:${leg}`,
    endedAt,
    'failed',
    say(`the selection did not arrive: ${why}`),
    took,
    ...pending,
  );
}

/** POSTs that reached the listener but no call: one step for each reason, however many there are. */
export function straySteps(errands: Iterable<Errand>): Step[] {
  const steps = new Map<string, Step>();
  for (const errand of errands)
    if (isStray(errand) && !steps.has(reasonOf(errand))) steps.set(reasonOf(errand), strayStep(errand));
  return [...steps.values()];
}

/** As {@link straySteps}, where this one has just been answered. */
export function newStraySteps(errands: Iterable<Errand>, errand: Errand): Step[] {
  if (!isStray(errand)) return [];
  for (const other of errands)
    if (other !== errand && isStray(other) && reasonOf(other) === reasonOf(errand)) return [];
  return [strayStep(errand)];
}

const isStray = ({ purpose, status }: Errand) => purpose === 'callback' && status !== undefined;
const reasonOf = ({ refusal = '' }: Errand) => refusal;

function strayStep(errand: Errand): Step {
  return step(`stray:${reasonOf(errand)}`, errand.at, 'failed', ...stray(errand));
}

function stray({ status, refusal = '' }: Errand): Line {
  if (refusal === 'wrong-address') return [say('a post to a wrong callback address, answered 404')];
  return [say(`a request to the callback listener, refused with ${status}: `), ...quote(refusal)];
}
