import type { Moment } from '../../../events/build.js';
import {
  acknowledged,
  answered,
  arrives,
  at,
  call,
  ENDPOINT,
  EVENT,
  INVOCATION,
  KEY,
  lost,
  resultArrives,
  THREAD,
} from '../../../events/build.js';
import { discovery, notice, TOOLSET } from '../parts.js';
import { fails, passes, type SampleSet, skips, unclear, warns } from '../sample.js';
import { asked, can, cannot, crashed, ofOtherCall, saw, scenario } from './driven.js';

const OTHER = 'http://127.0.0.1:3002';

const INVALID = { ...TOOLSET, tools: [{ ...TOOLSET.tools[0], name: 'half' }, { name: 'not a name' }] };

/** The requests of these moments, to another server. */
const elsewhere = (moments: Moment[], base = OTHER): Moment[] =>
  moments.map(each =>
    each.kind === 'request' ? { ...each, url: each.url.replace('http://127.0.0.1:3001', base) } : each,
  );

const offered = discovery();

const offering = (name: string, fields: object = {}) =>
  elsewhere(discovery({ ...TOOLSET, name, tools: [{ ...TOOLSET.tools[0], name }], ...fields }));

const asks = (fields: object = {}) => {
  const { operation, arguments: args } = INVOCATION;
  return asked({ do: 'invoke', operation, arguments: args, id: KEY, ...fields });
};

const failure = (text = 'Error: not accepted', id: string | undefined = KEY) =>
  saw({ saw: 'failure', ...(id !== undefined && { id }), text });

const model = (text: string) => saw({ saw: 'model', id: KEY, text });

/** A call that a scenario asked for, and its acknowledgement. */
const refused = (status: number) => [scenario(), asks(), call(), answered(status)];

const retries = (...pauses: number[]) => {
  let time = 10;
  return pauses.flatMap((pause, index) => {
    time += pause;
    const attempt = index + 2;
    return [...at(time, call({ attempt })), ...at(time + 1, answered(503, { attempt }))];
  });
};

const end = asked({ do: 'end' });

const invoked = [...scenario(), ...offered, ...asks(), ...call(), ...acknowledged(), ...resultArrives()];

const closes = (thread_id = THREAD, status: number | null = 200) =>
  notice('close', { status }, { body: { thread_id } });

const hanging = closes(THREAD, null);

const cancels = (tool_call_id = KEY) => notice('cancel', {}, { body: { thread_id: THREAD, tool_call_id } });

const pending = [
  ...scenario(),
  ...offered,
  ...asks(),
  ...call(),
  ...acknowledged(),
  ...asked({ do: 'cancel' }),
];

const twoSubscriptions = [
  ...[scenario(), offered, asks(), call(), acknowledged(), resultArrives({ subscription: true })],
  asks({ id: 'other', arguments: { path: 'other' } }),
  ofOtherCall(
    call({ invocation: { ...INVOCATION, id: 'other', arguments: { path: 'other' } } }),
    acknowledged(),
    resultArrives({ id: 'other', subscription: true }),
  ),
];

/** A call that a scenario asked for, in a thread. */
function inThread(id: string, group_id: string, ancestors: readonly string[] | null): Moment[][] {
  const args = { path: id };
  const fields = { id, group_id, arguments: args, ...(ancestors && { thread_ancestors: ancestors }) };
  return [
    asks({ id, arguments: args }),
    call({ invocation: { ...INVOCATION, ...fields } }).map(
      moment => ({ ...moment, leg: id, calls: [id] }) as Moment,
    ),
  ];
}

/** Calls in a root thread, a child, and a child of that, each with these ancestors. */
const family = (...ancestors: readonly (readonly string[] | null)[]) => [
  ...[scenario('RT-ANCESTORS'), can('child-thread')],
  ...['root', 'child', 'grandchild'].flatMap((thread, level) => [
    ...(level > 0 ? [asked({ do: 'child-thread' })] : []),
    ...inThread(`call_${level}`, thread, ancestors[level] ?? null),
  ]),
];

const overdue: Moment[] = [{ kind: 'expired', what: 'observation', afterMs: 5_000 }];

const destination_url = 'http://127.0.0.1:9/';

const migrates = (status: number | null = 200, body: object = { session_id: THREAD, destination_url }) =>
  notice('migrate', { status }, { body });

const needsMigration = discovery({ ...TOOLSET, needsMigration: true });

const migrating = [
  ...scenario('RT-MIGRATE'),
  ...needsMigration,
  ...asked({ do: 'migrate', destination_url }),
];

const migrated = saw({ saw: 'migrated' });

/** What only a driver shows of the requests of a runtime. */
export const DRIVEN_REQUESTS: SampleSet = {
  'RT-OP': [
    warns('a model that gets only a line without id', [
      scenario(),
      offered,
      asks({ operation: 'rm' }),
      saw({ saw: 'model', text: 'Reminder: be brief.' }),
    ]),
    warns(
      'an unknown operation of which the model gets nothing',
      [scenario(), offered, asks({ operation: 'rm' })],
      /no failed result: the operation is unknown/,
    ),
    skips('a driver that cannot show failures', [
      scenario(),
      cannot('failure'),
      offered,
      asks({ operation: 'rm' }),
    ]),
    skips('an operation of an invalid toolset, which RT-TOOLSET covers', [
      scenario(),
      offered,
      elsewhere(discovery(INVALID)),
      asks({ operation: 'half' }),
      elsewhere(call({ invocation: { ...INVOCATION, operation: 'half' } })),
    ]),
  ],
  'RT-ARGS': [
    warns('invalid arguments of which the model gets nothing', [
      scenario(),
      offered,
      asks({ arguments: {} }),
    ]),
    warns(
      'valid arguments that fail and are not sent',
      [scenario(), offered, asks(), failure()],
      /were refused/,
    ),
  ],
  'RT-FIELDS': [
    passes('a callback that was sent before the end, and connected after it', [
      ...[scenario(), asks(), call(), acknowledged()],
      resultArrives().slice(0, 1),
      end,
      [{ kind: 'broken', leg: 'back-1', phase: 'connect', code: 'ECONNREFUSED', calls: [KEY] }],
    ]),
    passes('a callback that comes after the end', [
      ...[scenario(), asks(), call(), acknowledged(), end],
      resultArrives().slice(0, 1),
      [{ kind: 'broken', leg: 'back-1', phase: 'connect', code: 'ECONNREFUSED', calls: [KEY] }],
    ]),
  ],
  'RT-ANCESTORS': [
    passes('both ancestors, the root first', family(null, ['root'], ['root', 'child'])),
    passes('a session below another thread', family(['top'], ['top', 'root'], ['top', 'root', 'child'])),
    warns('none', family(null, null, null), /has no thread_ancestors/),
    warns(
      'the parent first',
      family(null, ['root'], ['child', 'root']),
      /begins with the parent, not with the root/,
    ),
    warns('only the parent', family(null, ['root'], ['child']), /not the list of the ancestors/),
    warns('an unknown thread', family(null, ['other'], ['other', 'child'])),
    unclear('no child thread', [
      ...[scenario('RT-ANCESTORS'), can('child-thread'), ...inThread('call_1', 'root', null)],
      ...[asked({ do: 'child-thread' }), ...inThread('call_2', 'root', null)],
    ]),
    skips('a driver that does not support it', [scenario(), ...inThread('call_1', 'root', [])]),
  ],
  'RT-NON200': [
    passes('an error as a text', [...refused(404), model('Error: status 404')]),
    warns(
      'a result that is not an error',
      [...refused(302), model('moved')],
      /got a result that is not an error/,
    ),
    warns('a failed result without a description', [...refused(404), failure(' ')], /no description/),
    warns('two results', [...refused(404), failure(), failure()], /more than one result/),
    ...['end', 'cancel'].map(instruction =>
      warns(
        `a failed result only after the instruction ${instruction}`,
        [...refused(201), asked({ do: instruction }), failure('Error: canceled')],
        /no failed result before the runtime was asked to end or to cancel, after the acknowledgement 201/,
      ),
    ),
    warns('a second attempt after a 201', [...refused(201), call({ attempt: 2 }), failure()], /sent again/),
    warns('nothing long after the last attempt', [...refused(500), retries(100), at(9_000, end)]),
    skips('retries that may go on', [...refused(500), retries(100), at(1_000, end)]),
    passes('a driver without ids', [...refused(201), saw({ saw: 'model', text: 'Error: status 201' })]),
    skips('a driver without ids that may not have shown the failed result', [
      ...refused(201),
      ofOtherCall(
        call({ invocation: { ...INVOCATION, id: 'other' } }),
        acknowledged(),
        resultArrives({ id: 'other', text: 'done' }),
      ),
      saw({ saw: 'model', text: 'done' }),
    ]),
    skips('a driver that cannot show failures', [cannot('failure'), ...refused(201)]),
  ],
  'RT-RETRY': [
    passes('a retry before the result', [
      ...refused(503),
      at(300, call({ attempt: 2 })),
      answered(200, { attempt: 2 }),
      resultArrives(),
    ]),
    warns(
      'a retry after a 200 with a body',
      [
        ...[scenario(), asks(), call(), answered(200, { body: '<html>' })],
        [{ kind: 'planned', by: 'fault', plan: 'ack body', calls: [KEY] }],
        ...[call({ attempt: 2 }), answered(200, { attempt: 2 }), resultArrives()],
      ],
      /sent again after a 200 with a body/,
    ),
    passes('no retry after a 200 with a body', [
      ...[scenario(), asks(), call(), answered(200, { body: '<html>' })],
      [{ kind: 'planned', by: 'fault', plan: 'ack body', calls: [KEY] }],
      resultArrives(),
    ]),
    skips('a retry after a 200 that may have been lost', [
      ...[scenario(), asks(), call(), acknowledged(), call({ attempt: 2 }), answered(200, { attempt: 2 })],
      resultArrives(),
    ]),
    warns(
      'a failed result after one attempt',
      [scenario(), asks(), call(), lost('ECONNRESET', { phase: 'answer' }), failure(), resultArrives()],
      /gave up without a retry/,
    ),
  ],
  'RT-TIMEOUT': [
    passes('a failed result for a call without a result', [
      scenario(),
      asks(),
      call(),
      acknowledged(),
      failure('Error: timed out'),
    ]),
    skips('a failed result for a canceled call', [pending, failure()]),
    skips('no failed result', [scenario(), asks(), call(), acknowledged()]),
    warns(
      'a call that waits for the acknowledgement of another one',
      [
        scenario(),
        offered,
        asks(),
        call(),
        [{ kind: 'planned', by: 'fault', plan: 'ack hang', calls: [KEY] }],
        asks({ id: 'second', arguments: { path: 'second' } }),
        at(5_000, end),
      ],
      /was not sent while/,
    ),
  ],
  'RT-NOTIFY': [
    passes('none to a server without a toolset', [invoked, offering('not a name'), end, closes()]),
    fails('a notice of another thread', [invoked, end, closes('other')], /got no close_thread/),
    passes('a notice that is sent late, while another one hangs', [
      ...[invoked, offering('other'), end],
      ...[hanging.slice(0, 1), at(2_000, elsewhere(closes())), hanging.slice(1)],
    ]),
    passes('a notice that is read late, since the runtime ended at once', [
      ...[invoked, offering('other'), end],
      ...[hanging, at(20, elsewhere(closes()))],
    ]),
    fails(
      'a notice that waits for the end of another one',
      [invoked, offering('other'), end, hanging, at(2_000, elsewhere(closes()))],
      /only after one that got no answer had ended/,
    ),
    warns(
      'a notice that keeps the runtime from its end',
      [invoked, end, closes(THREAD, null), overdue],
      /did not end/,
    ),
    skips('a runtime that does not get to its end', [invoked, end, overdue]),
    skips('a runtime that crashed', [invoked, crashed, end]),
    fails('the pending call is not canceled', [pending, cancels('other')], /got no cancel_tool_call/),
    fails('a subscription is not canceled', [
      ...[scenario(), offered, asks(), call(), acknowledged(), resultArrives({ subscription: true })],
      asked({ do: 'cancel' }),
    ]),
    passes('the notice of a subscription that the model cancels', [
      ...twoSubscriptions,
      asked({ do: 'cancel-subscription', id: KEY }),
      cancels(),
    ]),
    fails(
      'no notice of a subscription that the model cancels',
      [...twoSubscriptions, asked({ do: 'cancel-subscription', id: KEY })],
      /got no cancel_tool_call/,
    ),
    fails(
      'a notice of another subscription',
      [...twoSubscriptions, asked({ do: 'cancel-subscription', id: KEY }), cancels(), cancels('other')],
      /canceled a call that the model did not cancel/,
    ),
    skips('a subscription that ended', [
      ...[scenario(), offered, asks(), call(), acknowledged(), resultArrives({ subscription: true })],
      arrives({ ...EVENT, final: true }, { leg: 'e' }),
      asked({ do: 'cancel' }),
    ]),
  ],
  'RT-MIGRATE': [
    passes('a success after the answer', [migrating, migrates(), migrated]),
    fails('a failure that is not reported', [migrating, migrates(null)], /no failure was reported/),
    fails('a second attempt', [migrating, migrates(500), migrates()], /sent again to the same server/),
    fails('no success', [migrating, migrates()], /did not succeed/),
    fails('nothing sent', [migrating], /was not sent/),
    fails('a success without a message', [migrating, migrated], /without \/migrate/),
    fails('wrong fields', [migrating, migrates(400, { session_id: THREAD })], /not \{session_id/),
    skips('a driver that cannot migrate', [cannot('migrate'), migrating]),
  ],
  'RT-TOOLSET': [
    warns(
      'a valid toolset that is not used because another one is invalid',
      [scenario(), offered, elsewhere(discovery(INVALID)), asks(), failure()],
      /edit_file of a valid toolset was not called/,
    ),
  ],
  'RT-CACHE': [
    passes('one toolset for two calls', [invoked, asks({ id: 'b' }), second()]),
    warns('a toolset for each call', [invoked, discovery(), second()], /fetched again/),
    passes('a toolset that is fetched again for a migration', [
      invoked,
      asks({ id: 'b' }),
      second(),
      asked({ do: 'migrate', destination_url: 'http://127.0.0.1:9/' }),
      discovery(),
    ]),
    skips('one call', [invoked]),
    skips('no driver', [invoked.slice(1), discovery(), second()]),
  ],
};

/** Another call. */
function second(): Moment[] {
  const invocation = { ...INVOCATION, id: 'b', arguments: { path: 'b' } };
  return call({ invocation }).map(each => ({ ...each, leg: 'b', calls: ['b'], url: ENDPOINT }) as Moment);
}
