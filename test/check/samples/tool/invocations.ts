import {
  acknowledged,
  answered,
  at,
  call,
  eventsOf,
  lost,
  type Moment,
  resultArrives,
  stalledAt,
  timedOut,
} from '../../../events/build.js';
import { discovery, someCall } from '../parts.js';
import { fails, passes, type SampleSet, type Samples, skips, unclear, warns } from '../sample.js';

/** The same call, repeated alone. */
function repeated(key: string, fields: object = {}) {
  const plan = { kind: 'planned', by: 'probe', plan: 'whatever it is called', again: true } as const;
  const planned: Moment[] = [{ ...plan, calls: [key] }];
  return { ...someCall(key, fields), planned };
}

const again = repeated('again');

const refusedAgain = repeated('refused again', { operation: 'no_such_thing' });

const another = someCall('another');

/** The same call, repeated at a time, with a 200 after `ms`. */
function madeAgain(from: number, ms: number): Moment[] {
  const call = repeated(`again at ${from}`);
  return [...call.planned, ...at(from, call.sent()), ...at(from + ms, call.answered())];
}

/** The same, with the result before the 200 or after it. */
function madeInOrder(from: number, isInOrder: boolean): Moment[] {
  const call = repeated(`in order at ${from}`);
  const [result, ack] = isInOrder ? [300, 10] : [10, 300];
  const rest = [
    { ms: result, moments: () => call.result() },
    { ms: ack, moments: () => call.answered() },
  ].toSorted((one, other) => one.ms - other.ms);
  const sent = at(from, call.sent());
  return [...call.planned, ...sent, ...rest.flatMap(({ ms, moments }) => at(from + ms, moments()))];
}

const unknown = someCall('unknown', { operation: 'no_such_thing' });

const ackSamples: Samples = [
  passes('a 200 before the result', [call(), at(3, acknowledged()), at(900, resultArrives())]),
  passes('the result of a previous attempt', [
    call(),
    acknowledged(),
    resultArrives(),
    at(900, call({ attempt: 2 })),
    at(1_100, answered(200, { attempt: 2 })),
  ]),
  passes('a 200 that was read late, since the check could not run', [
    call(),
    stalledAt(1_400, 1_300, acknowledged()),
    stalledAt(1_500, 1_300, resultArrives()),
  ]),
  passes('a 200 that was read after the result, since the check could not run in between', [
    call(),
    at(10, resultArrives()),
    stalledAt(900, 880, acknowledged()),
  ]),
  warns('a slow 200', [call(), at(400, acknowledged()), at(900, resultArrives())], /took 400ms, over 250 ms/),
  passes(
    'a 200 that is slow under load, and fast if repeated alone',
    [call(), at(400, acknowledged()), at(900, resultArrives()), madeAgain(1_000, 10)],
    /alone/,
  ),
  warns('a 200 that is slow, also if repeated alone', [
    call(),
    at(400, acknowledged()),
    madeAgain(1_000, 400),
  ]),
  warns(
    'a 200 after more than a second under load, and fast if repeated alone',
    [call(), at(1_200, acknowledged()), madeAgain(2_000, 20)],
    /took 1\.2s under load, and 20ms when called alone/,
  ),
  passes('two repeats alone: first slow, then fast', [
    call(),
    at(400, acknowledged()),
    madeAgain(1_000, 400),
    madeAgain(2_000, 20),
  ]),
  passes('two repeats alone: first fast, then slow', [
    call(),
    at(400, acknowledged()),
    madeAgain(1_000, 20),
    madeAgain(2_000, 400),
  ]),
  warns(
    'a 200 after the result, and before it if repeated alone',
    [call(), at(10, resultArrives()), at(300, acknowledged()), madeInOrder(2_000, true)],
    /after the result under load, and before it when called alone/,
  ),
  fails(
    'a 200 more than a second after the accepted result, and before it if repeated alone',
    [call(), at(10, resultArrives()), at(1_200, acknowledged()), madeInOrder(3_000, true)],
    /after the result/,
  ),
  warns(
    'a 200 right after the result of slow work, and fast if repeated alone',
    [call(), at(1_500, resultArrives()), at(1_505, acknowledged()), madeAgain(3_000, 5)],
    /took 1\.5s under load/,
  ),
  ...[
    { when: 'late', events: [call(), at(1_500, acknowledged())] },
    { when: 'after the result', events: [call(), at(10, resultArrives()), at(400, acknowledged())] },
  ].map(({ when, events }) => ({
    title: `a 200 of a probe that comes ${when}; a repeat may be missing`,
    events: eventsOf(another.plannedFor([]), ...events),
    isLossy: true as const,
    status: 'could-not-run' as const,
    says: /recording is incomplete/,
  })),
  ...[
    [true, false],
    [false, true],
  ].map(([first = false, second = false]) => ({
    title: `a 200 after the result, and before it in one repeat: the ${first ? 'first' : 'last'}`,
    events: eventsOf(
      call(),
      at(10, resultArrives()),
      at(300, acknowledged()),
      madeInOrder(2_000, first),
      madeInOrder(3_000, second),
    ),
    status: 'warn' as const,
  })),
  warns(
    'a late 200 to an unknown operation, and a 400 if repeated alone',
    [
      discovery(),
      unknown.sent(),
      at(400, unknown.answered()),
      refusedAgain.planned,
      at(1_000, refusedAgain.sent()),
      at(1_010, refusedAgain.answered({ status: 400 })),
    ],
    /took/,
  ),
  fails(
    'a 200 after the result, also if repeated alone',
    [call(), at(10, resultArrives()), at(300, acknowledged()), madeInOrder(2_000, false)],
    /after the result/,
  ),
  fails(
    'a slow 200, and another status if repeated alone',
    [
      call(),
      at(400, acknowledged()),
      again.planned,
      at(1_000, again.sent()),
      at(1_010, again.answered({ status: 503 })),
    ],
    /503/,
  ),
  warns('a slow 200, and a fast one for a call with another purpose', [
    call(),
    at(400, acknowledged()),
    another.plannedFor(['TOOL-ACK'], 'acknowledgement again'),
    at(1_000, another.sent()),
    at(1_010, another.answered()),
  ]),
  fails('a 200 after more than a second', [call(), at(1_200, acknowledged())], /1\.2/),
  warns(
    'a 200 of a probe after more than a second, in a call that may not be repeated',
    [another.plannedFor(['TOOL-ACK']), call(), at(1_200, acknowledged())],
    /s; the call was not repeated alone/,
  ),
  fails(
    "no response within a runtime's time limit",
    [call(), at(60_000, timedOut()), lost('ABORTED', { phase: 'answer' })],
    /within 1m/,
  ),
  fails(
    'one timeout, and a fast 200',
    [
      call(),
      at(2_900, lost('ETIMEDOUT', { phase: 'answer' })),
      at(4_000, again.sent()),
      at(4_010, again.answered()),
    ],
    /ETIMEDOUT/,
  ),
  unclear('a response that may be missing', [call(), at(60_000, timedOut())], /recording is incomplete/, {
    isLossy: true,
  }),
  warns(
    'a 503, and then a 200',
    [call(), answered(503), call({ attempt: 2 }), answered(200, { attempt: 2 })],
    /503/,
  ),
  unclear('a 401', [call(), answered(401)], /credentials/),
  unclear('a refused connection', [call(), lost()]),
  skips('a 400 to an unknown operation, which TOOL-UNKNOWN-OP covers', [
    discovery(),
    unknown.begun({ status: 400 }),
  ]),
];

const a = someCall('a');

const result = { type: 'tool_result', group_id: 'thread_a', id: 'a', text: 'done' };

const asyncSamples: Samples = [
  passes('an empty 200, and a callback', [a.begun(), a.result()]),
  fails('only an outcome in another form in the body', [
    a.begun({ body: { result: 7 } }),
    at(5_000, a.waited()),
  ]),
  fails(
    'a large body that was not read, and no callback',
    [a.begun({ headers: { 'content-length': '900' } }), a.waited()],
    /900 bytes/,
  ),
  unclear(
    'a large body, and a callback that may be missing',
    [a.begun({ headers: { 'content-length': '900' } }), a.waited()],
    /recording is incomplete/,
    { isLossy: true },
  ),
  warns('a short body, and no callback', [a.begun({ body: 'OK' }), a.waited()]),
  warns(
    'the result in the body and in a callback',
    [a.begun({ body: result }), a.result()],
    /an outcome in its body/,
  ),
  skips('an empty body, and no callback', [a.begun(), a.waited()]),
];

const broken = someCall('broken', { arguments: { path: 7 } });

const sound = someCall('sound');

const valid = () => [...sound.begun(), ...sound.result({ text: 'done as sound' })];

const validateSamples: Samples = [
  passes('an error result for each call', [
    discovery(),
    unknown.begun(),
    unknown.result({ text: 'Error: no operation "no_such_thing"; try edit_file.' }),
    broken.begun(),
    broken.result({ text: 'Error: path must be a string.' }),
  ]),
  passes('an error in other words', [
    discovery(),
    unknown.begun(),
    unknown.result({ text: 'unknown operation' }),
  ]),
  warns(
    'a successful unknown operation',
    [discovery(), unknown.begun(), unknown.result({ text: 'did no_such_thing' })],
    /unknown operation may have been executed/,
  ),
  warns('a refusal in unknown words', [
    discovery(),
    valid(),
    broken.begun(),
    broken.result({ text: 'Expected string, received number' }),
  ]),
  warns(
    'a question about invalid arguments, and then an error',
    [discovery(), broken.begun(), broken.asks(), broken.result({ text: 'Error: path must be a string.' })],
    /and then an error/,
  ),
  fails(
    'successful invalid arguments',
    [discovery(), valid(), broken.begun(), broken.result({ text: 'done as broken' })],
    /do not match its inputSchema was executed/,
  ),
  fails(
    'a question about invalid arguments',
    [discovery(), broken.begun(), broken.asks()],
    /was started: a user_choice/,
  ),
  skips('no invalid call', [discovery(), sound.begun(), sound.result()]),
  skips('a toolset that was not requested', [unknown.begun(), unknown.result()]),
];

const badArguments = someCall('bad', { arguments: {} });

/** Samples for all calls that must be acknowledged and then refused. */
function refusalSamples(call: ReturnType<typeof someCall>): Samples {
  const begun = () => [...discovery(), ...call.begun()];
  return [
    passes('200, and an error result', [begun(), call.result({ text: 'Error: this cannot be; do that.' })]),
    passes('200, and a denial (seed 002)', [
      begun(),
      call.result({ text: '{"denied":{"reason":"not here"}}' }),
    ]),
    warns('400', [discovery(), call.begun({ status: 400 })], /answered 400/),
    unclear('307', [discovery(), call.begun({ status: 307 })], /redirects invocations.* \(TOOL-ACK\)/),
    warns('200, and success', [begun(), call.result()], /not an error/),
    warns('200, and no result', [begun(), call.waited()], /nothing within 5s/),
    unclear(
      '200, and no result, as of the valid call before it',
      [discovery(), another.begun(), at(5_000, another.waited()), call.begun(), at(10_000, call.waited())],
      /no call of this tool got a callback \(TOOL-ALWAYS\)/,
    ),
    warns(
      '200, and no result, after a valid call that has one',
      [discovery(), another.begun(), another.result(), call.begun(), at(5_000, call.waited())],
      /nothing within/,
    ),
    unclear('200, at the end of the transcript', [begun()]),
    skips('no call', [discovery()]),
  ];
}

const unknownOpSamples = refusalSamples(unknown);

const badArgsSamples = refusalSamples(badArguments);

const b = someCall('b');

const c = someCall('c');

const { operation: _, ...addressed } = a.invocation;

const nowhere = { operation: 'edit_file', arguments: {} };

/** The tool is unreachable afterwards, for an unknown reason. */
const goneAfter = (code: string) =>
  eventsOf(
    a.sent('['),
    a.answered({ status: null, code }),
    discovery('', { status: null, code: 'ECONNREFUSED', phase: 'connect' }),
  );

const malformedSamples: Samples = [
  passes('200, and an error result if the callback URL is readable', [
    a.sent(addressed),
    a.answered(),
    a.result({ text: 'Error: no operation.' }),
    discovery(),
  ]),
  passes('200 to invalid JSON', [a.sent('{"operation":'), a.answered()]),
  passes('400 to a body that is not UTF-8', [
    a.sent(Buffer.from([0x22, 0xff, 0x22])),
    a.answered({ status: 400 }),
  ]),
  passes('404 to a call whose callback URL is not a URL', [
    a.sent({ ...a.invocation, callback_url: 'not a URL' }),
    a.answered({ status: 404 }),
  ]),
  warns('500', [a.sent(nowhere), a.answered({ status: 500 })]),
  warns(
    '200, and no result although the callback URL is readable',
    [a.sent(addressed), a.answered(), at(5_000, a.waited())],
    /nothing within 5s/,
  ),
  unclear(
    '200, and no result, as of the valid call before it',
    [another.begun(), at(5_000, another.waited()), a.sent(addressed), a.answered(), at(10_000, a.waited())],
    /no call of this tool got a callback \(TOOL-ALWAYS\)/,
  ),
  warns('200, and success', [a.sent(addressed), a.answered(), a.result()], /not an error/),
  warns('a connection that breaks', [a.sent('['), a.answered({ status: null }), discovery()], /ECONNRESET/),
  warns(
    'a crash: the next request cannot connect',
    [a.sent('['), a.answered(), discovery('', { status: null, code: 'ECONNREFUSED', phase: 'connect' })],
    /stopped responding after a malformed payload/,
  ),
  fails(
    'a crash while other requests were still answered',
    [
      b.sent(),
      a.sent('['),
      a.answered({ status: null }),
      b.answered(),
      c.sent('null'),
      c.answered({ status: null, code: 'ECONNREFUSED', phase: 'connect' }),
      c.waited(),
    ],
    /^the tool stopped responding after a malformed payload \(ECONNRESET\)$/,
  ),
  ...['ECONNRESET', 'EPIPE'].map(code => ({
    title: `a tool that broke the connection and was then unreachable (${code})`,
    events: goneAfter(code),
    status: 'fail' as const,
    says: new RegExp(`stopped responding after a malformed payload \\(${code}\\)$`),
  })),
  ...['ABORTED', 'ETIMEDOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'TOO_LARGE', 'PARSE'].map(
    code => ({
      title: `a tool that was unreachable later, after a timeout of ours (${code})`,
      events: goneAfter(code),
      status: 'warn' as const,
      says: /stopped responding/,
    }),
  ),
  ...['ETIMEDOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'].map(code => ({
    title: `no response within our time limit, and no connection closed by the tool (${code})`,
    events: eventsOf(a.sent('['), a.answered({ status: null, code }), discovery()),
    status: 'warn' as const,
    says: /^a malformed payload was not answered$/,
  })),
  warns('no response', [a.sent('['), a.waited()], /not answered/),
  unclear('a response that may be missing', [a.sent('['), a.waited()], /recording is incomplete/, {
    isLossy: true,
  }),
  unclear(
    '200, and a result that may be missing',
    [a.sent(addressed), a.answered(), at(5_000, a.waited())],
    /recording is incomplete/,
    { isLossy: true },
  ),
  unclear(
    'a crash, unless the response is missing',
    [a.sent('['), a.answered(), discovery('', { status: null, code: 'ECONNREFUSED', phase: 'connect' })],
    /recording is incomplete/,
    { isLossy: true },
  ),
  fails(
    'a crash after one payload; others were answered before',
    [
      a.sent('['),
      a.answered(),
      b.sent('null'),
      b.answered({ status: null, code: 'ECONNRESET' }),
      discovery('', { status: null, code: 'ECONNREFUSED', phase: 'connect' }),
    ],
    /stopped responding after a malformed payload \(ECONNRESET\); 1 more had been sent by then$/,
  ),
  fails(
    'a crash with several requests in progress',
    [
      a.sent('['),
      b.sent('null'),
      b.answered({ status: null, code: 'ECONNRESET' }),
      a.answered(),
      discovery('', { status: null, code: 'ECONNREFUSED', phase: 'connect' }),
    ],
    /payload \(ECONNRESET\); 1 more had been sent by then$/,
  ),
  unclear('no response so far', [a.sent('[')]),
  skips('a call that is well-formed', [a.begun()]),
];

const extra = someCall('extra', { x_trace: { a: [1] } });

const plain = someCall('plain');

const unheard = someCall('unheard');

const failure = { text: 'Error: nothing there.' };

const begun = () => extra.begun();

const compared = (fields: object) => [...plain.begun(), ...plain.result(fields)];

const extraSamples: Samples = [
  passes('a question', [begun(), extra.asks()]),
  passes('an error that also comes without the extra fields', [
    compared(failure),
    begun(),
    extra.result(failure),
  ]),
  warns(
    'an error that does not come without the extra fields',
    [compared({}), begun(), extra.result(failure)],
    /^a call ended in an error, and succeeded without these members: x_trace$/,
  ),
  skips('an error, and no call to compare it with', [begun(), extra.result(failure)]),
  unclear('an error in a check, with no call to compare it with', [
    extra.plannedFor(['TOOL-EXTRA']),
    begun(),
    extra.result(failure),
  ]),
  unclear('no result, as without the extra fields', [begun(), extra.waited()]),
  warns('no result', [compared({}), begun(), extra.waited()], /dropped/),
  unclear('no result, as of a call without the extra fields that ran at the same time', [
    compared({}),
    unheard.begun(),
    begun(),
    unheard.waited(),
    extra.waited(),
  ]),
  skips('no extra fields', [compared({})]),
];

export const INVOCATIONS: SampleSet = {
  'TOOL-ACK': ackSamples,
  'TOOL-ASYNC': asyncSamples,
  'TOOL-VALIDATE': validateSamples,
  'TOOL-UNKNOWN-OP': unknownOpSamples,
  'TOOL-BAD-ARGS': badArgsSamples,
  'TOOL-MALFORMED': malformedSamples,
  'TOOL-EXTRA': extraSamples,
};
