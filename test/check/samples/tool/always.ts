import { at, eventsOf } from '../../../events/build.js';
import { discovery, someCall } from '../parts.js';
import { fails, passes, type Samples, skips, unclear } from '../sample.js';

const a = someCall('a');
const b = someCall('b');
const c = someCall('c');

export const alwaysSamples: Samples = [
  passes('a result', [a.sent(), a.answered(), at(900, a.result())]),
  fails(
    "no callback within a check's time limit",
    [a.sent(), a.answered(), at(5_000, a.waited())],
    /^0 of 1 call got a result within 5s: raise --probe-timeout if the tool takes longer$/,
  ),
  fails(
    'no callback, and then no server',
    [
      a.sent(),
      a.answered(),
      b.sent(),
      b.answered({ status: null, code: 'ECONNREFUSED', phase: 'connect' }),
      at(5_000, a.waited()),
    ],
    /within 5s, and the tool was unreachable/,
  ),
  fails(
    "no callback within a runtime's time limit, after which it closes the thread",
    [a.sent(), a.answered(), at(60_000, a.waited(60_000, 'timeout')), a.closed()],
    /^0 of 1 call got a result within 1m: raise the caller's --timeout if the tool takes longer$/,
  ),
  fails('only a result caused by closing the thread', [
    a.sent(),
    a.answered(),
    at(5_000, a.waited()),
    a.closed(),
    a.result(),
  ]),
  fails('a view, and no result', [
    a.sent(),
    a.answered(),
    a.posts({ type: 'view_update', group_id: 'thread_a', view_type: 'diff', content: {} }),
    a.waited(),
  ]),
  fails(
    'some of many calls without a result',
    [a.sent(), a.answered(), a.result(), b.sent(), b.answered(), at(5_000, b.waited())],
    /^1 of 2 calls got a result within 5s/,
  ),
  unclear(
    'no callback for a call in progress when the tool crashed from a malformed payload',
    [
      b.sent(),
      b.answered(),
      b.result(),
      a.sent(),
      a.answered(),
      c.sent('['),
      c.answered({ status: null, code: 'ECONNRESET' }),
      discovery('', { status: null, phase: 'connect', code: 'ECONNREFUSED' }),
      at(5_000, a.waited()),
    ],
    /^the tool crashed for another reason before a call ended$/,
  ),
  unclear('a transcript that ends before the call does', [a.sent(), a.answered()], /pending/),
  skips('a canceled call', [a.sent(), a.answered(), a.cancelled(), a.waited()]),
  skips('a closed thread', [a.sent(), a.answered(), a.closed()]),
  skips('a call that waits for the user', [a.sent(), a.answered(), a.oauth(), a.waited()]),
  skips('a call that was never accepted', [a.sent(), a.answered({ status: 503 }), a.waited()]),
  ...(['closed', 'cancelled'] as const).map(how => ({
    story: `no callback until the call is ${how} by the runtime, without a recorded reason`,
    events: eventsOf(a.sent(), a.answered(), b.sent(), b.answered(), b.result(), at(2_000, a[how]())),
    status: 'could-not-run' as const,
    says: new RegExp(
      `^a call of "edit_file" was ${how.replace('ll', 'l')} by the runtime after 1\\.9s without a result$`,
    ),
  })),
  passes('no callback until a runtime closes the thread at once, and the result of another call', [
    a.sent(),
    a.answered(),
    b.sent(),
    b.answered(),
    b.result(),
    at(200, a.closed()),
  ]),
  passes('a result, and the thread closed later', [
    a.sent(),
    a.answered(),
    a.result(),
    at(2_000, a.closed()),
  ]),
  skips('no callback until the user cancels', [
    a.sent(),
    a.answered(),
    [{ kind: 'decided', what: 'cancel', by: 'person', calls: ['a'] }],
    at(2_000, a.cancelled()),
  ]),
  skips('no callback until the end of a check, which closes the threads it did not wait for', [
    a.plannedFor([]),
    a.sent(),
    a.answered(),
    at(2_000, a.closed()),
  ]),
  skips('an invalid result, which TOOL-POST covers', [
    a.sent(),
    a.answered(),
    a.result({ text: 7 }, { status: 400 }),
    a.waited(),
  ]),
  passes("results of two calls at each other's URL, which TOOL-ISOLATE covers", [
    a.sent(),
    a.answered(),
    b.sent(),
    b.answered(),
    b.result({ id: 'a', group_id: 'thread_a' }, { status: 404 }),
    a.waited(),
  ]),
];
