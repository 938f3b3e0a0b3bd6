import { at, eventsOf } from '../../../events/build.js';
import { discovery, someCall } from '../parts.js';
import type { Samples } from '../sample.js';

const a = someCall('a');
const b = someCall('b');
const c = someCall('c');

export const alwaysSamples: Samples = [
  { story: 'a result', events: eventsOf(a.sent(), a.answered(), at(900, a.result())), status: 'pass' },
  {
    story: 'nothing within the time of a check',
    events: eventsOf(a.sent(), a.answered(), at(5_000, a.waited())),
    status: 'fail',
    says: /^0 of 1 call got a result within 5s: raise --probe-timeout if the tool takes longer$/,
  },
  {
    story: 'nothing, and nobody there any more',
    events: eventsOf(
      a.sent(),
      a.answered(),
      b.sent(),
      b.answered({ status: null, code: 'ECONNREFUSED', phase: 'connect' }),
      at(5_000, a.waited()),
    ),
    status: 'fail',
    says: /within 5s, and the tool was unreachable/,
  },
  {
    story: 'nothing within the time of a runtime, which then closes the thread',
    events: eventsOf(a.sent(), a.answered(), at(60_000, a.waited(60_000, 'timeout')), a.closed()),
    status: 'fail',
    says: /^0 of 1 call got a result within 1m: raise the caller's --timeout if the tool takes longer$/,
  },
  {
    story: 'nothing but what the end of the thread brings about',
    events: eventsOf(a.sent(), a.answered(), at(5_000, a.waited()), a.closed(), a.result()),
    status: 'fail',
  },
  {
    story: 'a view, and no result',
    events: eventsOf(
      a.sent(),
      a.answered(),
      a.posts({ type: 'view_update', group_id: 'thread_a', view_type: 'diff', content: {} }),
      a.waited(),
    ),
    status: 'fail',
  },
  {
    story: 'some calls of many without a result',
    events: eventsOf(a.sent(), a.answered(), a.result(), b.sent(), b.answered(), at(5_000, b.waited())),
    status: 'fail',
    says: /^1 of 2 calls got a result within 5s/,
  },
  {
    story: 'nothing for a call that was under way when its tool died of a malformed payload',
    events: eventsOf(
      b.sent(),
      b.answered(),
      b.result(),
      a.sent(),
      a.answered(),
      c.sent('['),
      c.answered({ status: null, code: 'ECONNRESET' }),
      discovery('', { status: null, phase: 'connect', code: 'ECONNREFUSED' }),
      at(5_000, a.waited()),
    ),
    status: 'could-not-run',
    says: /^the tool crashed for another reason before a call ended$/,
  },
  {
    story: 'a transcript that ends before the call does',
    events: eventsOf(a.sent(), a.answered()),
    status: 'could-not-run',
    says: /pending/,
  },
  {
    story: 'a call that was cancelled',
    events: eventsOf(a.sent(), a.answered(), a.cancelled(), a.waited()),
    status: 'not-applicable',
  },
  {
    story: 'a thread that was closed',
    events: eventsOf(a.sent(), a.answered(), a.closed()),
    status: 'not-applicable',
  },
  {
    story: 'a call that waits for a person',
    events: eventsOf(a.sent(), a.answered(), a.oauth(), a.waited()),
    status: 'not-applicable',
  },
  {
    story: 'a call that was never taken',
    events: eventsOf(a.sent(), a.answered({ status: 503 }), a.waited()),
    status: 'not-applicable',
  },
  ...(['closed', 'cancelled'] as const).map(how => ({
    story: `nothing until a runtime that says no more has it ${how}`,
    events: eventsOf(a.sent(), a.answered(), b.sent(), b.answered(), b.result(), at(2_000, a[how]())),
    status: 'could-not-run' as const,
    says: new RegExp(
      `^a call of "edit_file" was ${how.replace('ll', 'l')} by the runtime after 1\\.9s without a result$`,
    ),
  })),
  {
    story: 'nothing until a runtime closes it at once, and the result of another',
    events: eventsOf(a.sent(), a.answered(), b.sent(), b.answered(), b.result(), at(200, a.closed())),
    status: 'pass',
  },
  {
    story: 'a result, and the thread closed later',
    events: eventsOf(a.sent(), a.answered(), a.result(), at(2_000, a.closed())),
    status: 'pass',
  },
  {
    story: 'nothing until somebody decides to cancel it',
    events: eventsOf(
      a.sent(),
      a.answered(),
      [{ kind: 'decided', what: 'cancel', by: 'person', calls: ['a'] }],
      at(2_000, a.cancelled()),
    ),
    status: 'not-applicable',
  },
  {
    story: 'nothing until the end of a check, which closes what it has not waited for',
    events: eventsOf(a.plannedFor([]), a.sent(), a.answered(), at(2_000, a.closed())),
    status: 'not-applicable',
  },
  {
    story: 'a result that breaks its schema, which is of TOOL-POST',
    events: eventsOf(a.sent(), a.answered(), a.result({ text: 7 }, { status: 400 }), a.waited()),
    status: 'not-applicable',
  },
  {
    story: 'results of two calls that went to the wrong one, which is of TOOL-ISOLATE',
    events: eventsOf(
      a.sent(),
      a.answered(),
      b.sent(),
      b.answered(),
      b.result({ id: 'a', group_id: 'thread_a' }, { status: 404 }),
      a.waited(),
    ),
    status: 'pass',
  },
];
