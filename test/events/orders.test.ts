import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { llmTextOf } from '../../src/events/exchange.js';
import {
  acknowledged,
  arrives,
  CHOICE,
  call,
  canceled,
  chose,
  closed,
  EVENT,
  historyOf,
  KEY,
  type Moment,
  OAUTH,
  resultArrives,
  THREAD,
  timedOut,
  VIEW,
} from './build.js';

/** A message, and the messages that must arrive before it: a message cannot overtake the response that it follows. */
interface Sent {
  readonly moments: readonly Moment[];
  readonly after: readonly string[];
}

const AND_WHEN = { ...CHOICE, prompt: 'And when?' };

const event = (text: string, more = {}) => arrives({ ...EVENT, text, ...more }, { leg: text });
const view = (patch: string) => arrives({ ...VIEW, content: { patch } }, { leg: patch });
const forged = (leg: string) => resultArrives({ id: 'forged', text: leg }, { leg });

type Conversation = Readonly<Record<string, Sent>>;

const SUBSCRIPTION: Conversation = {
  acknowledgement: { moments: acknowledged(), after: [] },
  question: { moments: arrives(CHOICE, { leg: 'question' }), after: [] },
  'question again': { moments: arrives(CHOICE, { leg: 'question-2' }), after: ['question'] },
  choice: { moments: chose(1), after: ['question'] },
  result: { moments: resultArrives({ subscription: true }, { leg: 'result' }), after: ['choice'] },
  'result again': { moments: resultArrives({ subscription: true }, { leg: 'result-2' }), after: ['result'] },
  'event 1': { moments: event('1'), after: ['result'] },
  'event 2': { moments: event('2', { associative: true }), after: ['event 1'] },
  'last event': { moments: event('3', { final: true }), after: ['event 2'] },
  'last event again': { moments: event('3', { final: true }), after: ['last event'] },
  'view 1': { moments: view('1'), after: [] },
  'view 2': { moments: view('2'), after: ['view 1'] },
  'a stranger': { moments: forged('x'), after: [] },
  'another stranger': { moments: forged('y'), after: [] },
};

/** Two questions and a consent, open at the same time and answered in any order. */
const QUESTIONS: Conversation = {
  acknowledgement: { moments: acknowledged(), after: [] },
  page: { moments: arrives(OAUTH, { leg: 'page' }), after: [] },
  'page again': { moments: arrives(OAUTH, { leg: 'page-2' }), after: ['page'] },
  where: { moments: arrives(CHOICE, { leg: 'where' }), after: [] },
  when: { moments: arrives(AND_WHEN, { leg: 'when' }), after: [] },
  'when again': { moments: arrives(AND_WHEN, { leg: 'when-2' }), after: ['when'] },
  'the place': { moments: chose(1, 'where'), after: ['where'] },
  'the time': { moments: chose(0, 'when'), after: ['when'] },
  'a view': { moments: view('1'), after: [] },
  'a stranger': { moments: forged('x'), after: [] },
};

/** The same, with the messages after its end: no question is open. */
const ended = (end: readonly Moment[], by: string): [string, Conversation, object] => [
  by,
  {
    ...QUESTIONS,
    end: { moments: end, after: Object.keys(QUESTIONS).filter(name => name !== 'a view') },
    'a late result': { moments: resultArrives({}, { leg: 'late' }), after: ['end'] },
    'a late question': { moments: arrives({ ...CHOICE, prompt: 'Why?' }, { leg: 'why' }), after: ['end'] },
  },
  { by, waitingFor: null, picked: ['when 0', 'where 1'] },
];

/** A subscription that ends with its thread or with a cancel. */
const unsubscribed = (end: readonly Moment[], by: string): [string, Conversation, object] => [
  `a subscription: ${by}`,
  {
    result: { moments: resultArrives({ subscription: true }, { leg: 'result' }), after: [] },
    'event 1': { moments: event('1'), after: ['result'] },
    'event 2': { moments: event('2'), after: ['event 1'] },
    end: { moments: end, after: ['event 2'] },
    'event 3': { moments: event('3'), after: ['end'] },
    'result again': {
      moments: resultArrives({ subscription: true }, { leg: 'result-2' }),
      after: ['result'],
    },
    'a view': { moments: view('1'), after: [] },
  },
  { by: 'result', events: 2, ended: by },
];

/** A possible order of arrival: of the messages that may come next, the one with the highest priority comes. */
function orderOf(conversation: Conversation, wishes: readonly string[]): string[] {
  const order: string[] = [];
  while (order.length < wishes.length) {
    const next = wishes.find(
      name => !order.includes(name) && conversation[name]?.after.every(before => order.includes(before)),
    );
    if (next === undefined) throw new Error('the conversation goes in a circle');
    order.push(next);
  }
  return order;
}

function endOf(conversation: Conversation, order: readonly string[]) {
  const history = historyOf(call(), ...order.map(name => conversation[name]?.moments ?? []));
  const exchange = history.exchanges.get(KEY);
  if (!exchange) throw new Error('there is no call');
  const { settled, waitingFor, subscription, arrivals, selections } = exchange;
  return {
    by: settled?.by,
    text: llmTextOf(exchange),
    waitingFor,
    picked: selections.map(({ question, selected }) => `${question} ${selected}`).sort(),
    events: subscription?.events,
    ended: subscription?.ended?.by,
    view: history.threads.get(THREAD)?.views.get('diff')?.content,
    verdicts: arrivals.map(({ verdict }) => verdict.kind).sort(),
  };
}

describe('any possible order of arrival leads to the same end state', () => {
  test.each<[string, Conversation, object]>([
    [
      'a question and a subscription',
      SUBSCRIPTION,
      { by: 'result', text: 'done', waitingFor: null, events: 3, ended: 'final', view: { patch: '2' } },
    ],
    ['questions that stay open', QUESTIONS, { waitingFor: OAUTH, picked: ['when 0', 'where 1'] }],
    ended(resultArrives({}, { leg: 'result' }), 'result'),
    ended(canceled(), 'cancel'),
    ended(timedOut(), 'timeout'),
    unsubscribed(closed(), 'close'),
    unsubscribed(canceled(), 'cancel'),
  ])('%s', (_, conversation, expected) => {
    const names = Object.keys(conversation);
    const end = endOf(conversation, orderOf(conversation, names));
    expect(end).toMatchObject(expected);
    fc.assert(
      fc.property(fc.shuffledSubarray(names, { minLength: names.length }), wishes => {
        expect(endOf(conversation, orderOf(conversation, wishes))).toEqual(end);
      }),
      { numRuns: 100 },
    );
  });
});
