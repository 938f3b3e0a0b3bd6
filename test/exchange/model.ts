import {
  answered,
  arrives,
  bytesArrive,
  CHOICE,
  call,
  canceled,
  chose,
  EVENT,
  gaveUp,
  lingered,
  lost,
  type Moment,
  OAUTH,
  RESULT,
  refused,
  resultArrives,
  timedOut,
  VIEW,
} from './build.js';

/** What a call is, as simply as it can be said: pending, or settled by the first thing that could. */
export interface Model {
  readonly by: 'result' | 'refusal' | 'unreachable' | 'timeout' | 'cancel' | null;
  /** The text of the result that settled it. */
  readonly text: string | null;
  readonly seen: readonly string[];
  readonly asked: readonly string[];
  readonly lastTry: 'refusal' | 'unreachable';
}

export const PENDING: Model = { by: null, text: null, seen: [], asked: [], lastTry: 'unreachable' };

/** Something that can happen at any time: the facts, what the model makes of it, and the verdict on what arrived. */
export interface Action {
  readonly name: string;
  moments(leg: string): Moment[];
  next(model: Model): Model;
  verdict?(model: Model): string;
}

/** Stands in every message that must not get through. */
export const FORGED = 'FORGED';

const unchanged = (model: Model) => model;
const settles = (by: NonNullable<Model['by']>) => (model: Model) => (model.by ? model : { ...model, by });

function result(text: string): Action {
  return {
    name: `result "${text}"`,
    moments: leg => resultArrives({ text }, { leg }),
    next: model => ({ ...model, ...(model.by ? {} : { by: 'result', text }), seen: [...model.seen, text] }),
    verdict(model) {
      if (model.by === null) return 'settles';
      return model.by === 'result' || model.seen.includes(text) ? 'duplicate' : 'late';
    },
  };
}

function question(name: string, message: object): Action {
  return {
    name,
    moments: leg => arrives(message, { leg }),
    next: model => (model.by ? model : { ...model, asked: [...model.asked, name] }),
    verdict(model) {
      if (model.by) return 'late';
      return model.asked.includes(name) ? 'duplicate' : 'holds';
    },
  };
}

function without(verdict: string, name: string, moments: Action['moments']): Action {
  return { name, moments, next: unchanged, verdict: () => verdict };
}

const forged = (message: object, fields: object) => (leg: string) =>
  arrives({ ...message, ...fields }, { leg });

export const ACTIONS: readonly Action[] = [
  result('one'),
  result('two'),
  result('Error: three'),
  question('oauth', OAUTH),
  question('choice', CHOICE),
  question('another choice', { ...CHOICE, prompt: 'And when?' }),
  without('discarded', 'result, forged id', forged(RESULT, { id: 'x', text: FORGED })),
  without('discarded', 'result, forged group', forged(RESULT, { group_id: 'x', text: FORGED })),
  without('discarded', 'oauth, forged id', forged(OAUTH, { id: FORGED })),
  without('discarded', 'choice, forged group', forged(CHOICE, { group_id: 'x', prompt: FORGED })),
  without('discarded', 'event of no subscription', forged(EVENT, { text: FORGED })),
  without('noted', 'view', leg => arrives({ ...VIEW, content: { patch: FORGED } }, { leg })),
  without('rejected', 'no text', leg => arrives({ ...RESULT, text: undefined, note: FORGED }, { leg })),
  without('rejected', 'no JSON', leg => bytesArrive(Buffer.from(`{"text":"${FORGED}"`), { leg })),
  without('rejected', 'no UTF-8', leg => bytesArrive(Buffer.from([0x22, 0xff, 0x22]), { leg })),
  without('rejected', 'refused by the guard', leg =>
    refused('an Origin header', 403, { leg, to: RESULT.id }),
  ),
  {
    name: 'answer',
    moments: () => answered(503, { body: FORGED.toLowerCase() }),
    next: model => ({ ...model, lastTry: 'refusal' }),
  },
  { name: 'timeout', moments: () => timedOut(), next: settles('timeout') },
  { name: 'cancel', moments: () => canceled(), next: settles('cancel') },
  { name: 'give up', moments: () => gaveUp(), next: model => settles(model.lastTry)(model) },
  { name: 'choice made', moments: () => chose(0), next: unchanged },
  { name: 'lingered', moments: () => lingered(), next: unchanged },
  {
    name: 'lost answer of a stranger',
    moments: leg => lost('EPIPE').map(each => ({ ...each, leg })),
    next: unchanged,
  },
];

/** The call itself, then whatever was drawn, each arrival on a leg of its own. */
export function storyOf(actions: readonly Action[]): Moment[][] {
  return [call(), ...actions.map((action, index) => action.moments(`leg-${index}`))];
}
