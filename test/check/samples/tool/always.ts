import { at, eventsOf } from '../../../events/build.js';
import { discovery, someCall } from '../parts.js';
import { fails, passes, type Samples, skips, unclear } from '../sample.js';

const a = someCall('a');
const b = someCall('b');
const c = someCall('c');

export const alwaysSamples: Samples = [
  passes('a result', [a.sent(), a.answered(), at(900, a.result())]),
  fails(
    'nothing within the time of a check',
    [a.sent(), a.answered(), at(5_000, a.waited())],
    /^0 of 1 call got a result within 5s: raise --probe-timeout if the tool takes longer$/,
  ),
  fails(
    'nothing, and no one there any more',
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
    'nothing within the time of a runtime, which then closes the thread',
    [a.sent(), a.answered(), at(60_000, a.waited(60_000, 'timeout')), a.closed()],
    /^0 of 1 call got a result within 1m: raise the caller's --timeout if the tool takes longer$/,
  ),
  fails('nothing but what the end of the thread brings about', [
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
    'some calls of many without a result',
    [a.sent(), a.answered(), a.result(), b.sent(), b.answered(), at(5_000, b.waited())],
    /^1 of 2 calls got a result within 5s/,
  ),
  unclear(
    'nothing for a call that was under way when its tool died of a malformed payload',
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
  skips('a call that was cancelled', [a.sent(), a.answered(), a.cancelled(), a.waited()]),
  skips('a thread that was closed', [a.sent(), a.answered(), a.closed()]),
  skips('a call that waits for a person', [a.sent(), a.answered(), a.oauth(), a.waited()]),
  skips('a call that was never taken', [a.sent(), a.answered({ status: 503 }), a.waited()]),
  ...(['closed', 'cancelled'] as const).map(how => ({
    story: `nothing until a runtime that says no more has it ${how}`,
    events: eventsOf(a.sent(), a.answered(), b.sent(), b.answered(), b.result(), at(2_000, a[how]())),
    status: 'could-not-run' as const,
    says: new RegExp(
      `^a call of "edit_file" was ${how.replace('ll', 'l')} by the runtime after 1\\.9s without a result$`,
    ),
  })),
  passes('nothing until a runtime closes it at once, and the result of another', [
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
  skips('nothing until someone decides to cancel it', [
    a.sent(),
    a.answered(),
    [{ kind: 'decided', what: 'cancel', by: 'person', calls: ['a'] }],
    at(2_000, a.cancelled()),
  ]),
  skips('nothing until the end of a check, which closes what it has not waited for', [
    a.plannedFor([]),
    a.sent(),
    a.answered(),
    at(2_000, a.closed()),
  ]),
  skips('a result that breaks its schema, which is of TOOL-POST', [
    a.sent(),
    a.answered(),
    a.result({ text: 7 }, { status: 400 }),
    a.waited(),
  ]),
  passes('results of two calls that went to the wrong one, which is of TOOL-ISOLATE', [
    a.sent(),
    a.answered(),
    b.sent(),
    b.answered(),
    b.result({ id: 'a', group_id: 'thread_a' }, { status: 404 }),
    a.waited(),
  ]),
];
