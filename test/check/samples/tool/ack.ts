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
import type { Samples } from '../sample.js';

/** The same call, made once more alone. */
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
  {
    story: 'a 200 before the result',
    events: eventsOf(call(), at(3, acknowledged()), at(900, resultArrives())),
    status: 'pass',
  },
  {
    story: 'a 200 after the result',
    events: eventsOf(call(), at(10, resultArrives()), at(300, acknowledged())),
    status: 'fail',
    says: /after the result/,
  },
  {
    story: 'the result of an attempt before',
    events: eventsOf(
      call(),
      acknowledged(),
      resultArrives(),
      at(900, call({ attempt: 2 })),
      at(1_100, answered(200, { attempt: 2 })),
    ),
    status: 'pass',
  },
  {
    story: 'a 200 that takes its time',
    events: eventsOf(call(), at(400, acknowledged()), at(900, resultArrives())),
    status: 'warn',
    says: /took 400ms, over 250 ms/,
  },
  {
    story: 'a 200 that takes its time under load, and none when the same is called alone',
    events: eventsOf(
      call(),
      at(400, acknowledged()),
      at(900, resultArrives()),
      again.planned,
      at(1_000, again.sent()),
      at(1_010, again.answered()),
    ),
    status: 'pass',
    says: /alone/,
  },
  {
    story: 'a 200 that takes its time, also when it is called alone',
    events: eventsOf(
      call(),
      at(400, acknowledged()),
      again.planned,
      at(1_000, again.sent()),
      at(1_400, again.answered()),
    ),
    status: 'warn',
  },
  {
    story: 'a 200 after more than a second under load, and in time alone',
    events: eventsOf(call(), at(1_200, acknowledged()), madeAgain(2_000, 20)),
    status: 'warn',
    says: /took 1\.2s under load, and 20ms when called alone/,
  },
  {
    story: 'a 200 after more than a second, also alone',
    events: eventsOf(call(), at(1_900, acknowledged()), madeAgain(3_000, 1_400)),
    status: 'fail',
    says: /took 1\.4s when called alone/,
  },
  {
    story: 'a 200 that is late alone at first, and then in time',
    events: eventsOf(call(), at(400, acknowledged()), madeAgain(1_000, 400), madeAgain(2_000, 20)),
    status: 'pass',
  },
  {
    story: 'a 200 that is in time alone at first, and then late',
    events: eventsOf(call(), at(400, acknowledged()), madeAgain(1_000, 20), madeAgain(2_000, 400)),
    status: 'pass',
  },
  {
    story: 'a 200 after the result, and before it alone',
    events: eventsOf(
      call(),
      at(10, resultArrives()),
      at(300, acknowledged()),
      again.planned,
      at(2_000, again.sent()),
      at(2_020, again.answered()),
      at(2_100, again.result()),
    ),
    status: 'warn',
    says: /after the result under load, and before it when called alone/,
  },
  {
    story: 'a 200 more than a second after the result was taken, and before it alone',
    events: eventsOf(call(), at(10, resultArrives()), at(1_200, acknowledged()), madeInOrder(3_000, true)),
    status: 'fail',
    says: /after the result/,
  },
  {
    story: 'a 200 at once after the result of work that took its time, and in time alone',
    events: eventsOf(call(), at(1_500, resultArrives()), at(1_505, acknowledged()), madeAgain(3_000, 5)),
    status: 'warn',
    says: /took 1\.5s under load/,
  },
  ...[
    { story: 'late', events: [call(), at(1_500, acknowledged())] },
    { story: 'after the result', events: [call(), at(10, resultArrives()), at(400, acknowledged())] },
  ].map(({ story, events }) => ({
    story: `a 200 of a probe that comes ${story}, where it may have been called again alone`,
    events: eventsOf(another.plannedFor([]), ...events),
    isLossy: true as const,
    status: 'could-not-run' as const,
    says: /recording is incomplete/,
  })),
  ...[
    [true, false],
    [false, true],
  ].map(([first = false, second = false]) => ({
    story: `a 200 after the result, and alone once before it: ${first ? 'at first' : 'in the end'}`,
    events: eventsOf(
      call(),
      at(10, resultArrives()),
      at(300, acknowledged()),
      madeInOrder(2_000, first),
      madeInOrder(3_000, second),
    ),
    status: 'warn' as const,
  })),
  {
    story: 'a late 200 to an unknown operation, and a 400 alone',
    events: eventsOf(
      discovery(),
      unknown.sent(),
      at(400, unknown.answered()),
      refusedAgain.planned,
      at(1_000, refusedAgain.sent()),
      at(1_010, refusedAgain.answered({ status: 400 })),
    ),
    status: 'warn',
    says: /took/,
  },
  {
    story: 'a 200 after the result, also alone',
    events: eventsOf(
      call(),
      at(10, resultArrives()),
      at(300, acknowledged()),
      again.planned,
      at(2_000, again.sent()),
      at(2_010, again.result()),
      at(2_200, again.answered()),
    ),
    status: 'fail',
    says: /after the result/,
  },
  {
    story: 'a 200 that takes its time, and another status alone',
    events: eventsOf(
      call(),
      at(400, acknowledged()),
      again.planned,
      at(1_000, again.sent()),
      at(1_010, again.answered({ status: 503 })),
    ),
    status: 'fail',
    says: /503/,
  },
  {
    story: 'a 200 that takes its time, and none when the same is called for something else',
    events: eventsOf(
      call(),
      at(400, acknowledged()),
      another.plannedFor(['TOOL-ACK'], 'acknowledgement again'),
      at(1_000, another.sent()),
      at(1_010, another.answered()),
    ),
    status: 'warn',
  },
  {
    story: 'a 200 after more than a second',
    events: eventsOf(call(), at(1_200, acknowledged())),
    status: 'fail',
    says: /1\.2/,
  },
  {
    story: 'no answer within the time of a runtime',
    events: eventsOf(call(), at(60_000, timedOut()), lost('ABORTED', { phase: 'answer' })),
    status: 'fail',
    says: /within 1m/,
  },
  {
    story: 'no answer in time, and a 200 at another time',
    events: eventsOf(
      call(),
      at(2_900, lost('ETIMEDOUT', { phase: 'answer' })),
      at(4_000, again.sent()),
      at(4_010, again.answered()),
    ),
    status: 'fail',
    says: /ETIMEDOUT/,
  },
  {
    story: 'no answer that is left',
    events: eventsOf(call(), at(60_000, timedOut())),
    isLossy: true,
    status: 'could-not-run',
    says: /recording is incomplete/,
  },
  {
    story: 'a result, and no 200',
    events: eventsOf(call(), resultArrives()),
    status: 'fail',
    says: /no acknowledgement/,
  },
  {
    story: 'a connection that ends without an answer',
    events: eventsOf(call(), lost('ECONNRESET', { phase: 'answer' })),
    status: 'fail',
    says: /ECONNRESET/,
  },
  {
    story: 'a 503, and then a 200',
    events: eventsOf(call(), answered(503), call({ attempt: 2 }), answered(200, { attempt: 2 })),
    status: 'warn',
    says: /503/,
  },
  { story: 'a 503', events: eventsOf(call(), answered(503)), status: 'fail' },
  { story: 'a 401', events: eventsOf(call(), answered(401)), status: 'could-not-run', says: /credentials/ },
  { story: 'nobody there', events: eventsOf(call(), lost()), status: 'could-not-run' },
  {
    story: 'a 400 to an unknown operation, which is of TOOL-UNKNOWN-OP',
    events: eventsOf(discovery(), unknown.sent(), unknown.answered({ status: 400 })),
    status: 'not-applicable',
  },
  { story: 'a 201', events: eventsOf(call(), answered(201)), status: 'fail', says: /201/ },
];
