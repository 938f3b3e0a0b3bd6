import {
  acknowledged,
  answered,
  arrives,
  at,
  bytesArrive,
  CHOICE,
  call,
  EVENT,
  KEY,
  type Moment,
  OAUTH,
  resultArrives,
  timedOut,
  VIEW,
} from '../../../events/build.js';
import { discovery, notice, TOOLSET } from '../parts.js';
import { fails, passes, type SampleSet, skips, warns } from '../sample.js';

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

/** What is nearly a breach of a runtime's rules and is not one, or nearly none and is one. */
export const NEAR: SampleSet = {
  'RT-FIELDS': [
    passes('a callback_url that was reached once', [begun, breaks('connect'), resultArrives()], undefined, {
      observer: 'tool',
    }),
    passes('a callback_url that was reached, and the answer lost', [begun, breaks('answer')], undefined, {
      observer: 'tool',
    }),
  ],
  'RT-NON200': [
    skips('a result before the 201', [
      call(),
      answered(503),
      at(10, resultArrives()),
      at(20, call({ attempt: 2 })),
      [...answered(201, { attempt: 2 })],
    ]),
    warns('waited without success after a 201', [call(), answered(201), timedOut()], /continued to wait/),
  ],
  'RT-RETRY': [
    skips('a 503 of a tool that has called back', [call(), answered(503), resultArrives()]),
    passes('one retry without a pause', [call(), answered(503), call({ attempt: 2 })]),
    passes('two retries, one of them after a pause', [
      call(),
      answered(503),
      call({ attempt: 2 }),
      answered(503, { attempt: 2 }),
      at(500, call({ attempt: 3 })),
    ]),
  ],
  'RT-VALIDATE': [
    skips('what is not a callback, and was never answered', [begun, unanswered(unreadable)]),
    skips('a good callback refused', [begun, resultArrives({}, { status: 400 })]),
    skips('what was turned away before its body counted', [
      begun,
      resultArrives().map(({ ...moment }) => {
        if (moment.kind === 'request') delete moment.body;
        return moment;
      }),
    ]),
  ],
  'RT-MATCH': [
    warns(
      "another's id answered 200, and the call's own result, too",
      [begun, resultArrives({ id: 'forged' }, { status: 200 }), resultArrives({}, { leg: 'own' })],
      /does not show/,
    ),
    warns("another's id answered 200, and something else refused", [
      begun,
      resultArrives({ id: 'forged' }, { status: 200 }),
      unreadable,
    ]),
    skips("another's id, never answered", [
      begun,
      unanswered(resultArrives({ id: 'forged' }, { status: 200 })),
    ]),
    skips('an event of an unknown subscription, which is of RT-SUB', [
      begun,
      arrives({ ...EVENT, tool_call_id: 'unknown' }, { status: 200 }),
    ]),
    skips("the call's own result alone", [begun, resultArrives()]),
  ],
  'RT-PENDING': [
    fails('sent again after a consent was asked for', [begun, arrives(OAUTH), call({ attempt: 2 })]),
    skips('sent again after a view', [begun, arrives(VIEW), call({ attempt: 2 })]),
    skips('sent again after what no one can read', [begun, unreadable, call({ attempt: 2 })]),
  ],
  'RT-OAUTH': [skips('no consent in it', [begun, unreadable, resultArrives()])],
  'RT-CHOICE': [
    skips('no question among what came', [begun, unreadable, arrives(VIEW), timedOut()]),
    fails(
      'a selection that is not a POST',
      [begun, arrives(CHOICE), selects({ id: KEY, selected: 1 }, 'PUT')],
      /not {id, selected}/,
    ),
    fails(
      "a selection with another call's id",
      [begun, arrives(CHOICE), selects({ id: 'another', selected: 1 })],
      /id of another call/,
    ),
  ],
  'RT-SUB': [
    passes('only an event of an unknown subscription, refused', [
      begun,
      arrives({ ...EVENT, tool_call_id: 'unknown' }, { status: 404 }),
    ]),
    skips('only an event of an unknown subscription, taken', [
      begun,
      arrives({ ...EVENT, tool_call_id: 'unknown' }, { status: 200 }),
    ]),
    skips('no event', [begun, unreadable, resultArrives({ subscription: true })]),
    skips('an event that was never answered', [
      begun,
      resultArrives({ subscription: true }),
      unanswered(arrives(EVENT, { leg: 'e' })),
    ]),
  ],
  'RT-VIEW': [skips('no view', [begun, unreadable, resultArrives()])],
  'RT-NOTIFY': [
    passes('a notice that fails, and another one', [
      notice('cancel', { status: 500 }, { body: { thread_id: 'a', tool_call_id: 'a' } }),
      notice('cancel', {}, { body: { thread_id: 'a', tool_call_id: 'b' } }),
    ]),
    passes('a notice that fails, and one of another kind', [
      notice('close', { status: 500 }, { body: { thread_id: 'a' } }),
      notice('cancel', {}, { body: { thread_id: 'a', tool_call_id: 'a' } }),
    ]),
    fails('a notice that is lost and comes again', [
      notice('close', { status: null }, { body: { thread_id: 'a' } }),
      notice('close', {}, { body: { thread_id: 'a' } }),
    ]),
  ],
  'RT-TOOLSET': [
    skips('a call of a valid toolset beside an invalid one', [
      discovery(misnamed),
      discovery(),
      begun,
      resultArrives(),
    ]),
    skips('the same server asked twice', [discovery(), discovery(), begun]),
    passes('a name that two define, and a call of another', [
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
    ]),
  ],
};
