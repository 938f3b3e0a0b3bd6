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
import { fails, passes, type SampleSet, skips, unclear, warns } from '../sample.js';

const begun = [...call(), ...acknowledged()];
const unreadable = bytesArrive(Buffer.from('{'), { leg: 'u', status: 400 });
const unanswered = (moments: Moment[]) => moments.slice(0, 1);
const misnamed = { ...TOOLSET, tools: [{ ...TOOLSET.tools[0], name: 'no good' }] };
const elsewhere = { ...TOOLSET, tools: [{ ...TOOLSET.tools[0], name: 'elsewhere' }] };

/** A callback whose connection broke. */
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

/** Edge cases of the runtime's rules. */
export const NEAR: SampleSet = {
  'RT-FIELDS': [
    passes('a callback_url that was reached once', [begun, breaks('connect'), resultArrives()], undefined, {
      observer: 'tool',
    }),
    passes('a reachable callback_url whose response was lost', [begun, breaks('answer')], undefined, {
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
    warns('a timeout after a 201', [call(), answered(201), timedOut()], /continued to wait/),
  ],
  'RT-RETRY': [
    skips('a 503 of a tool that sent a callback', [call(), answered(503), resultArrives()]),
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
    skips('an invalid callback that was never answered', [begun, unanswered(unreadable)]),
    skips('a refused valid callback', [begun, resultArrives({}, { status: 400 })]),
    skips('a post that was refused before its body was read', [
      begun,
      resultArrives().map(({ ...moment }) => {
        if (moment.kind === 'request') delete moment.body;
        return moment;
      }),
    ]),
  ],
  'RT-MATCH': [
    warns(
      "the id of another call answered 200, and the call's own result too",
      [begun, resultArrives({ id: 'forged' }, { status: 200 }), resultArrives({}, { leg: 'own' })],
      /does not show/,
    ),
    warns('the id of another call answered 200, and another callback refused', [
      begun,
      resultArrives({ id: 'forged' }, { status: 200 }),
      unreadable,
    ]),
    skips('the id of another call, never answered', [
      begun,
      unanswered(resultArrives({ id: 'forged' }, { status: 200 })),
    ]),
    skips('an event of an unknown subscription, which RT-SUB covers', [
      begun,
      arrives({ ...EVENT, tool_call_id: 'unknown' }, { status: 200 }),
    ]),
    skips("only the call's own result", [begun, resultArrives()]),
  ],
  'RT-PENDING': [
    fails('retried after a consent question', [begun, arrives(OAUTH), call({ attempt: 2 })]),
    skips('retried after a view', [begun, arrives(VIEW), call({ attempt: 2 })]),
    skips('retried after an unreadable callback', [begun, unreadable, call({ attempt: 2 })]),
  ],
  'RT-OAUTH': [skips('no consent', [begun, unreadable, resultArrives()])],
  'RT-CHOICE': [
    skips('no question among the callbacks', [begun, unreadable, arrives(VIEW), timedOut()]),
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
    unclear(
      'only an event of an unknown subscription, accepted',
      [begun, arrives({ ...EVENT, tool_call_id: 'unknown' }, { status: 200 })],
      /does not show whether it was discarded/,
    ),
    skips('no event', [begun, unreadable, resultArrives({ subscription: true })]),
    skips('an event that was never answered', [
      begun,
      resultArrives({ subscription: true }),
      unanswered(arrives(EVENT, { leg: 'e' })),
    ]),
  ],
  'RT-VIEW': [skips('no view', [begun, unreadable, resultArrives()])],
  'RT-NOTIFY': [
    passes('two different failed notices', [
      notice('cancel', { status: 500 }, { body: { thread_id: 'a', tool_call_id: 'a' } }),
      notice('cancel', {}, { body: { thread_id: 'a', tool_call_id: 'b' } }),
    ]),
    passes('two failed notices of different kinds', [
      notice('close', { status: 500 }, { body: { thread_id: 'a' } }),
      notice('cancel', {}, { body: { thread_id: 'a', tool_call_id: 'a' } }),
    ]),
    fails('a lost notice that is sent again', [
      notice('close', { status: null }, { body: { thread_id: 'a' } }),
      notice('close', {}, { body: { thread_id: 'a' } }),
    ]),
  ],
  'RT-TOOLSET': [
    skips('a call of a valid toolset next to an invalid one', [
      discovery(misnamed),
      discovery(),
      begun,
      resultArrives(),
    ]),
    skips('two requests to the same server', [discovery(), discovery(), begun]),
    passes('a name that two tools have, and a call of another one', [
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
