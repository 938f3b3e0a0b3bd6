import {
  acknowledged,
  answered,
  arrives,
  at,
  bytesArrive,
  CHOICE,
  call,
  EVENT,
  eventsOf,
  KEY,
  type Moment,
  OAUTH,
  resultArrives,
  timedOut,
  VIEW,
} from '../../../events/build.js';
import { discovery, notice, TOOLSET } from '../parts.js';
import type { SampleSet } from '../sample.js';

const begun = [...call(), ...acknowledged()];
const unreadable = bytesArrive(Buffer.from('{'), { leg: 'u', status: 400 });
const unanswered = (moments: Moment[]) => moments.slice(0, 1);
const misnamed = { ...TOOLSET, tools: [{ ...TOOLSET.tools[0], name: 'no good' }] };
const elsewhere = { ...TOOLSET, tools: [{ ...TOOLSET.tools[0], name: 'elsewhere' }] };

/** A callback that broke on its way. */
const breaks = (phase: string): Moment[] => [
  ...unanswered(resultArrives({}, { leg: phase })),
  { kind: 'broken', leg: phase, phase, code: 'ECONNRESET', calls: [KEY] },
];

const selects = (body: object, method = 'POST'): Moment[] =>
  notice('close', {}, { body, calls: [KEY] }).map(moment =>
    moment.kind === 'request'
      ? { ...moment, purpose: 'choice', method, url: CHOICE.response_url, leg: 's' }
      : ({ ...moment, leg: 's' } as Moment),
  );

/** What is nearly a breach of a runtime's rules and is none, or nearly none and is one. */
export const NEAR: SampleSet = {
  'RT-FIELDS': [
    {
      story: 'a callback_url that was reached once',
      events: eventsOf(begun, breaks('connect'), resultArrives()),
      observer: 'tool',
      status: 'pass',
    },
    {
      story: 'a callback_url that was reached, and the answer lost',
      events: eventsOf(begun, breaks('answer')),
      observer: 'tool',
      status: 'pass',
    },
  ],
  'RT-NON200': [
    {
      story: 'a result before the 201',
      events: eventsOf(call(), answered(503), at(10, resultArrives()), at(20, call({ attempt: 2 })), [
        ...answered(201, { attempt: 2 }),
      ]),
      status: 'not-applicable',
    },
    {
      story: 'waited in vain after a 201',
      events: eventsOf(call(), answered(201), timedOut()),
      status: 'warn',
      says: /continued to wait/,
    },
  ],
  'RT-RETRY': [
    {
      story: 'a 503 of a tool that has called back',
      events: eventsOf(call(), answered(503), resultArrives()),
      status: 'not-applicable',
    },
    {
      story: 'one retry without a pause',
      events: eventsOf(call(), answered(503), call({ attempt: 2 })),
      status: 'pass',
    },
    {
      story: 'two retries, one of them after a pause',
      events: eventsOf(
        call(),
        answered(503),
        call({ attempt: 2 }),
        answered(503, { attempt: 2 }),
        at(500, call({ attempt: 3 })),
      ),
      status: 'pass',
    },
  ],
  'RT-VALIDATE': [
    {
      story: 'what is no callback, and was never answered',
      events: eventsOf(begun, unanswered(unreadable)),
      status: 'not-applicable',
    },
    {
      story: 'a good callback refused',
      events: eventsOf(begun, resultArrives({}, { status: 400 })),
      status: 'not-applicable',
    },
    {
      story: 'what was turned away before its body counted',
      events: eventsOf(
        begun,
        resultArrives().map(({ ...moment }) => {
          if (moment.kind === 'request') delete moment.body;
          return moment;
        }),
      ),
      status: 'not-applicable',
    },
  ],
  'RT-MATCH': [
    {
      story: "another's id answered 200, and the call's own result, too",
      events: eventsOf(
        begun,
        resultArrives({ id: 'forged' }, { status: 200 }),
        resultArrives({}, { leg: 'own' }),
      ),
      status: 'warn',
      says: /does not show/,
    },
    {
      story: "another's id answered 200, and something else refused",
      events: eventsOf(begun, resultArrives({ id: 'forged' }, { status: 200 }), unreadable),
      status: 'warn',
    },
    {
      story: "another's id, never answered",
      events: eventsOf(begun, unanswered(resultArrives({ id: 'forged' }, { status: 200 }))),
      status: 'not-applicable',
    },
    {
      story: 'an event of an unknown subscription, which is of RT-SUB',
      events: eventsOf(begun, arrives({ ...EVENT, tool_call_id: 'unknown' }, { status: 200 })),
      status: 'not-applicable',
    },
    {
      story: "the call's own result alone",
      events: eventsOf(begun, resultArrives()),
      status: 'not-applicable',
    },
  ],
  'RT-PENDING': [
    {
      story: 'sent again after a consent was asked for',
      events: eventsOf(begun, arrives(OAUTH), call({ attempt: 2 })),
      status: 'fail',
    },
    {
      story: 'sent again after a view',
      events: eventsOf(begun, arrives(VIEW), call({ attempt: 2 })),
      status: 'not-applicable',
    },
    {
      story: 'sent again after what nobody can read',
      events: eventsOf(begun, unreadable, call({ attempt: 2 })),
      status: 'not-applicable',
    },
  ],
  'RT-OAUTH': [
    {
      story: 'no consent in it',
      events: eventsOf(begun, unreadable, resultArrives()),
      status: 'not-applicable',
    },
  ],
  'RT-CHOICE': [
    {
      story: 'no question among what came',
      events: eventsOf(begun, unreadable, arrives(VIEW), timedOut()),
      status: 'not-applicable',
    },
    {
      story: 'a selection that is no POST',
      events: eventsOf(begun, arrives(CHOICE), selects({ id: KEY, selected: 1 }, 'PUT')),
      status: 'fail',
      says: /not {id, selected}/,
    },
    {
      story: "a selection with another call's id",
      events: eventsOf(begun, arrives(CHOICE), selects({ id: 'another', selected: 1 })),
      status: 'fail',
      says: /id of another call/,
    },
  ],
  'RT-SUB': [
    {
      story: 'only an event of an unknown subscription, refused',
      events: eventsOf(begun, arrives({ ...EVENT, tool_call_id: 'unknown' }, { status: 404 })),
      status: 'pass',
    },
    {
      story: 'only an event of an unknown subscription, taken',
      events: eventsOf(begun, arrives({ ...EVENT, tool_call_id: 'unknown' }, { status: 200 })),
      status: 'not-applicable',
    },
    {
      story: 'no event',
      events: eventsOf(begun, unreadable, resultArrives({ subscription: true })),
      status: 'not-applicable',
    },
    {
      story: 'an event that was never answered',
      events: eventsOf(
        begun,
        resultArrives({ subscription: true }),
        unanswered(arrives(EVENT, { leg: 'e' })),
      ),
      status: 'not-applicable',
    },
  ],
  'RT-VIEW': [
    { story: 'no view', events: eventsOf(begun, unreadable, resultArrives()), status: 'not-applicable' },
  ],
  'RT-NOTIFY': [
    {
      story: 'a notice that fails, and another one',
      events: eventsOf(
        notice('cancel', { status: 500 }, { body: { thread_id: 'a', tool_call_id: 'a' } }),
        notice('cancel', {}, { body: { thread_id: 'a', tool_call_id: 'b' } }),
      ),
      status: 'pass',
    },
    {
      story: 'a notice that fails, and one of another kind',
      events: eventsOf(
        notice('close', { status: 500 }, { body: { thread_id: 'a' } }),
        notice('cancel', {}, { body: { thread_id: 'a', tool_call_id: 'a' } }),
      ),
      status: 'pass',
    },
    {
      story: 'a notice that is lost and comes again',
      events: eventsOf(
        notice('close', { status: null }, { body: { thread_id: 'a' } }),
        notice('close', {}, { body: { thread_id: 'a' } }),
      ),
      status: 'fail',
    },
  ],
  'RT-TOOLSET': [
    {
      story: 'a call of a valid toolset beside an invalid one',
      events: eventsOf(discovery(misnamed), discovery(), begun, resultArrives()),
      status: 'not-applicable',
    },
    {
      story: 'the same server asked twice',
      events: eventsOf(discovery(), discovery(), begun),
      status: 'not-applicable',
    },
    {
      story: 'a name that two define, and a call of another',
      events: eventsOf(
        discovery(),
        discovery({ ...TOOLSET, tools: [...TOOLSET.tools, ...elsewhere.tools] }).map(each =>
          each.kind === 'request' ? { ...each, url: 'http://127.0.0.1:3002/.well-known/rap-toolset' } : each,
        ),
        call({
          invocation: {
            operation: 'elsewhere',
            id: 'a',
            group_id: 'b',
            callback_url: 'http://a/',
            arguments: {},
          },
        }),
      ),
      status: 'pass',
    },
  ],
};
