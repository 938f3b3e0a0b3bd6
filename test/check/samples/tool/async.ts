import { at, eventsOf } from '../../../events/build.js';
import { someCall } from '../parts.js';
import type { Samples } from '../sample.js';

const a = someCall('a');
const result = { type: 'tool_result', group_id: 'thread_a', id: 'a', text: 'done' };

export const asyncSamples: Samples = [
  {
    story: 'an empty 200, and a callback',
    events: eventsOf(a.sent(), a.answered(), a.result()),
    status: 'pass',
  },
  {
    story: 'a nod beside a callback',
    events: eventsOf(a.sent(), a.answered({ body: { ok: true } }), a.result()),
    status: 'pass',
    says: /^the acknowledgement has a body, which no runtime reads$/,
  },
  {
    story: 'the result in the body of the acknowledgement alone',
    events: eventsOf(a.sent(), a.answered({ body: result }), at(5_000, a.waited())),
    status: 'fail',
    says: /body of 67 bytes.*within 5s/,
  },
  {
    story: 'an outcome in other words in the body alone',
    events: eventsOf(a.sent(), a.answered({ body: { result: 7 } }), at(5_000, a.waited())),
    status: 'fail',
  },
  {
    story: 'a large body that nobody read, and no callback',
    events: eventsOf(a.sent(), a.answered({ headers: { 'content-length': '900' } }), a.waited()),
    status: 'fail',
    says: /900 bytes/,
  },
  {
    story: 'a large body, and no callback that is left',
    events: eventsOf(a.sent(), a.answered({ headers: { 'content-length': '900' } }), a.waited()),
    isLossy: true,
    status: 'could-not-run',
    says: /recording is incomplete/,
  },
  {
    story: 'a nod, and no callback',
    events: eventsOf(a.sent(), a.answered({ body: 'OK' }), a.waited()),
    status: 'warn',
  },
  {
    story: 'the result in the body, and in a callback',
    events: eventsOf(a.sent(), a.answered({ body: result }), a.result()),
    status: 'warn',
    says: /an outcome in its body/,
  },
  {
    story: 'nothing in the body, and no callback',
    events: eventsOf(a.sent(), a.answered(), a.waited()),
    status: 'not-applicable',
  },
];
