import {
  answered,
  arrives,
  bytesArrive,
  CHOICE,
  call,
  canceled,
  chose,
  closed,
  consented,
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

/** The simplest model of a call: pending, or settled by the first event that can settle it. */
export interface Model {
  readonly by: 'result' | 'refusal' | 'unreachable' | 'timeout' | 'cancel' | null;
  /** The text of the result that settled it. */
  readonly text: string | null;
  readonly seen: readonly string[];
  readonly asked: readonly string[];
  /** The unanswered ones, while the call is pending. */
  readonly open: readonly string[];
  readonly lastTry: 'refusal' | 'unreachable';
  /** The subscription: the number of events, and the text of the last one or the reason for the end. */
  readonly subscription: { readonly events: number; readonly ended: string | null } | null;
  /** The patch of the diff view; null without one. */
  readonly view: string | null;
}

export const PENDING: Model = {
  by: null,
  text: null,
  seen: [],
  asked: [],
  open: [],
  lastTry: 'unreachable',
  subscription: null,
  view: null,
};

/** An event that can happen at any time: the facts, the change of the model, and the verdict. */
export interface Action {
  readonly name: string;
  moments(leg: string): Moment[];
  next(model: Model): Model;
  verdict?(model: Model): string;
}

/** A text in every message that must be rejected. */
export const FORGED = 'FORGED';

const unchanged = (model: Model) => model;
const settles = (by: NonNullable<Model['by']>) => (model: Model) =>
  model.by ? model : { ...model, by, open: [] };

function result(text: string, subscription = false): Action {
  const opened = subscription ? { events: 0, ended: null } : null;
  return {
    name: `result "${text}"`,
    moments: leg => resultArrives({ text, ...(subscription && { subscription }) }, { leg }),
    next: model => ({
      ...model,
      ...(model.by ? {} : { by: 'result', text, subscription: opened, open: [] }),
      seen: [...model.seen, text],
    }),
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
    next: model =>
      model.by || model.asked.includes(name)
        ? model
        : { ...model, asked: [...model.asked, name], open: [...model.open, name] },
    verdict(model) {
      if (model.asked.includes(name)) return 'duplicate';
      return model.by ? 'late' : 'holds';
    },
  };
}

/** Answers the oldest question of its kind. */
function answer(name: string, moments: Action['moments'], isMeant: (question: string) => boolean): Action {
  return {
    name,
    moments,
    next(model) {
      const answered = model.open.find(isMeant);
      return { ...model, open: model.open.filter(question => question !== answered) };
    },
  };
}

const ends = (why: string) => (model: Model) =>
  model.subscription?.ended === null
    ? { ...model, subscription: { ...model.subscription, ended: why } }
    : model;

function event(text: string, final: boolean): Action {
  return {
    name: `event "${text}"`,
    moments: leg => arrives({ ...EVENT, text, final }, { leg }),
    next(model) {
      if (model.subscription?.ended !== null) return model;
      const counted = {
        ...model,
        subscription: { ...model.subscription, events: model.subscription.events + 1 },
      };
      return final ? ends(text)(counted) : counted;
    },
    verdict({ subscription }) {
      if (subscription?.ended === null) return 'noted';
      if (final && subscription?.ended === text) return 'duplicate';
      return subscription?.ended === 'cancel' ? 'late' : 'discarded';
    },
  };
}

function view(patch: string | null): Action {
  const content = patch === null ? {} : { patch };
  return {
    name: `view ${patch}`,
    moments: leg => arrives({ ...VIEW, content }, { leg }),
    next: model => ({ ...model, view: patch }),
    verdict: () => 'noted',
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
  result('subscribed', true),
  event('opened', false),
  event('merged', true),
  event('closed', true),
  view('one'),
  view('two'),
  view(null),
  question('oauth', OAUTH),
  question('choice', CHOICE),
  question('another choice', { ...CHOICE, prompt: 'And when?' }),
  without('discarded', 'result, forged id', forged(RESULT, { id: 'x', text: FORGED })),
  without('discarded', 'result, forged group', forged(RESULT, { group_id: 'x', text: FORGED })),
  without('discarded', 'oauth, forged id', forged(OAUTH, { id: FORGED })),
  without('discarded', 'choice, forged group', forged(CHOICE, { group_id: 'x', prompt: FORGED })),
  without('discarded', 'event of another call', forged(EVENT, { tool_call_id: 'x', text: FORGED })),
  { ...view('of an unknown type'), moments: forged(VIEW, { view_type: 'x' }), next: unchanged },
  without('discarded', 'view of another thread', forged(VIEW, { group_id: 'x', content: { patch: FORGED } })),
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
  { name: 'cancel', moments: () => canceled(), next: model => ends('cancel')(settles('cancel')(model)) },
  { name: 'close', moments: () => closed(), next: ends('close') },
  { name: 'close another thread', moments: () => closed('x'), next: unchanged },
  { name: 'give up', moments: () => gaveUp(), next: model => settles(model.lastTry)(model) },
  answer(
    'choice made',
    () => chose(0),
    question => question !== 'oauth',
  ),
  answer('consent given', consented, question => question === 'oauth'),
  { name: 'choice of no one', moments: () => chose(0, 'nowhere'), next: unchanged },
  { name: 'lingered', moments: () => lingered(), next: unchanged },
  {
    name: 'lost answer of a stranger',
    moments: leg => lost('EPIPE').map(each => ({ ...each, leg })),
    next: unchanged,
  },
];

/** Cached by action and leg, so that the bytes are parsed only once. */
const momentsByAction = new Map<Action, Moment[][]>(ACTIONS.map(action => [action, []]));

function momentsOf(action: Action, index: number): Moment[] {
  const legs = momentsByAction.get(action) ?? [];
  legs[index] ??= action.moments(`leg-${index}`);
  return legs[index];
}

/** The call, then the drawn events, each arrival on its own leg. */
export function partsOf(actions: readonly Action[]): Moment[][] {
  return [call(), ...actions.map(momentsOf)];
}
