import { at } from '../../../events/build.js';
import { someCall } from '../parts.js';
import { fails, passes, type Samples, skips, unclear, warns } from '../sample.js';

const a = someCall('a');
const result = { type: 'tool_result', group_id: 'thread_a', id: 'a', text: 'done' };

export const asyncSamples: Samples = [
  passes('an empty 200, and a callback', [a.sent(), a.answered(), a.result()]),
  passes(
    'a short body, and a callback',
    [a.sent(), a.answered({ body: { ok: true } }), a.result()],
    /^the acknowledgement has a body, which no runtime reads$/,
  ),
  fails(
    'only a result in the body of the acknowledgement',
    [a.sent(), a.answered({ body: result }), at(5_000, a.waited())],
    /body of 67 bytes.*within 5s/,
  ),
  fails('only an outcome in another form in the body', [
    a.sent(),
    a.answered({ body: { result: 7 } }),
    at(5_000, a.waited()),
  ]),
  fails(
    'a large body that was not read, and no callback',
    [a.sent(), a.answered({ headers: { 'content-length': '900' } }), a.waited()],
    /900 bytes/,
  ),
  unclear(
    'a large body, and a callback that may be missing',
    [a.sent(), a.answered({ headers: { 'content-length': '900' } }), a.waited()],
    /recording is incomplete/,
    { isLossy: true },
  ),
  warns('a short body, and no callback', [a.sent(), a.answered({ body: 'OK' }), a.waited()]),
  warns(
    'the result in the body and in a callback',
    [a.sent(), a.answered({ body: result }), a.result()],
    /an outcome in its body/,
  ),
  skips('an empty body, and no callback', [a.sent(), a.answered(), a.waited()]),
];
