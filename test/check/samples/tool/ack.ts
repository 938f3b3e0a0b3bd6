import {
  acknowledged,
  answered,
  at,
  call,
  eventsOf,
  lost,
  type Moment,
  resultArrives,
  timedOut,
} from '../../../events/build.js';
import { discovery, someCall } from '../parts.js';
import { fails, passes, type Samples, skips, unclear, warns } from '../sample.js';

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

export const ackSamples: Samples = [
  passes('a 200 before the result', [call(), at(3, acknowledged()), at(900, resultArrives())]),
  fails(
    'a 200 after the result',
    [call(), at(10, resultArrives()), at(300, acknowledged())],
    /after the result/,
  ),
  passes('the result of a previous attempt', [
    call(),
    acknowledged(),
    resultArrives(),
    at(900, call({ attempt: 2 })),
    at(1_100, answered(200, { attempt: 2 })),
  ]),
  warns('a slow 200', [call(), at(400, acknowledged()), at(900, resultArrives())], /took 400ms, over 250 ms/),
  passes(
    'a 200 that is slow under load, and fast if repeated alone',
    [
      call(),
      at(400, acknowledged()),
      at(900, resultArrives()),
      again.planned,
      at(1_000, again.sent()),
      at(1_010, again.answered()),
    ],
    /alone/,
  ),
  warns('a 200 that is slow, also if repeated alone', [
    call(),
    at(400, acknowledged()),
    again.planned,
    at(1_000, again.sent()),
    at(1_400, again.answered()),
  ]),
  warns(
    'a 200 after more than a second under load, and fast if repeated alone',
    [call(), at(1_200, acknowledged()), madeAgain(2_000, 20)],
    /took 1\.2s under load, and 20ms when called alone/,
  ),
  fails(
    'a 200 after more than a second, also if repeated alone',
    [call(), at(1_900, acknowledged()), madeAgain(3_000, 1_400)],
    /took 1\.4s when called alone/,
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
    [
      call(),
      at(10, resultArrives()),
      at(300, acknowledged()),
      again.planned,
      at(2_000, again.sent()),
      at(2_020, again.answered()),
      at(2_100, again.result()),
    ],
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
    { story: 'late', events: [call(), at(1_500, acknowledged())] },
    { story: 'after the result', events: [call(), at(10, resultArrives()), at(400, acknowledged())] },
  ].map(({ story, events }) => ({
    story: `a 200 of a probe that comes ${story}; a repeat may be missing`,
    events: eventsOf(another.plannedFor([]), ...events),
    isLossy: true as const,
    status: 'could-not-run' as const,
    says: /recording is incomplete/,
  })),
  ...[
    [true, false],
    [false, true],
  ].map(([first = false, second = false]) => ({
    story: `a 200 after the result, and before it in one repeat: the ${first ? 'first' : 'last'}`,
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
    [
      call(),
      at(10, resultArrives()),
      at(300, acknowledged()),
      again.planned,
      at(2_000, again.sent()),
      at(2_010, again.result()),
      at(2_200, again.answered()),
    ],
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
  fails('a result without a 200', [call(), resultArrives()], /no acknowledgement/),
  fails(
    'a connection that ends without a response',
    [call(), lost('ECONNRESET', { phase: 'answer' })],
    /ECONNRESET/,
  ),
  warns(
    'a 503, and then a 200',
    [call(), answered(503), call({ attempt: 2 }), answered(200, { attempt: 2 })],
    /503/,
  ),
  fails('a 503', [call(), answered(503)]),
  unclear('a 401', [call(), answered(401)], /credentials/),
  unclear('a refused connection', [call(), lost()]),
  skips('a 400 to an unknown operation, which TOOL-UNKNOWN-OP covers', [
    discovery(),
    unknown.sent(),
    unknown.answered({ status: 400 }),
  ]),
  fails('a 201', [call(), answered(201)], /201/),
];
