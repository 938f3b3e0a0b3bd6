import { at, stalledAt } from '../../../events/build.js';
import { discovery, someCall, stray } from '../parts.js';
import { fails, passes, type SampleSet, type Samples, skips, unclear, warns } from '../sample.js';

const a = someCall('a');

const b = someCall('b');

const c = someCall('c');

const alwaysSamples: Samples = [
  passes('a result', [a.begun(), at(900, a.result())]),
  fails(
    "no callback within a check's time limit",
    [a.begun(), at(5_000, a.waited())],
    /^0 of 1 call got a result within 5s$/,
  ),
  fails(
    'no callback, and then no server',
    [a.begun(), b.begun({ status: null, code: 'ECONNREFUSED', phase: 'connect' }), at(5_000, a.waited())],
    /^the tool stopped answering \(ECONNREFUSED\) during `edit_file`$/,
  ),
  fails(
    "no callback within a runtime's time limit, after which it closes the thread",
    [a.begun(), at(60_000, a.waited(60_000, 'timeout')), a.closed()],
    /^0 of 1 call got a result within 1m: raise the caller's --timeout if the tool takes longer$/,
  ),
  fails('only a result caused by closing the thread', [
    a.begun(),
    at(5_000, a.waited()),
    a.closed(),
    a.result(),
  ]),
  fails('a view, and no result', [
    a.begun(),
    a.posts({ type: 'view_update', group_id: 'thread_a', view_type: 'diff', content: {} }),
    a.waited(),
  ]),
  unclear(
    'no callback for a call in progress when the tool crashed from a malformed payload',
    [
      b.begun(),
      b.result(),
      a.begun(),
      c.sent('['),
      c.answered({ status: null, code: 'ECONNRESET' }),
      discovery('', { status: null, phase: 'connect', code: 'ECONNREFUSED' }),
      at(5_000, a.waited()),
    ],
    /^the tool crashed before a call ended$/,
  ),
  unclear(
    'a transcript that ends before the call does',
    [a.begun()],
    /^1 of 1 call has no result: still pending at the end$/,
  ),
  unclear(
    'only a canceled call',
    [a.begun(), a.cancelled(), a.waited()],
    /^1 of 1 call has no result: canceled/,
  ),
  unclear(
    'only a closed thread',
    [a.begun(), a.closed()],
    /^1 of 1 call has no result: closed by the runtime/,
  ),
  unclear(
    'a thread that the runtime closes, as long after as its clock says',
    [a.begun(), stalledAt(2_000, 800, a.closed())],
    /closed by the runtime after (?:1\.9|2)s$/,
  ),
  unclear(
    'several calls whose threads the runtime closes after different times',
    [a.begun(), b.begun(), at(1_000, a.closed()), at(2_000, b.closed())],
    /^2 of 2 calls have no result: closed by the runtime after 99\dms to 1.9s$/,
  ),
  unclear(
    'three calls that end without a result, each in another way',
    [a.begun(), b.begun(), c.begun(), at(1_000, a.closed()), at(2_000, b.cancelled())],
    /^3 of 3 calls have no result: closed by the runtime after 9\d\dms, canceled .* after 1\.9s, still pending at the end$/,
  ),
  skips('a call that waits for the user', [a.begun(), a.oauth(), a.waited()]),
  skips('a call that was never accepted', [a.begun({ status: 503 }), a.waited()]),
  unclear(
    'no callback until a runtime closes the thread, and the result of another call',
    [a.begun(), b.begun(), b.result(), at(200, a.closed())],
    /^1 of 2 calls has no result: closed by the runtime after 1\d\dms$/,
  ),
  passes('no callback until a runtime cancels the call, and the result of another call', [
    a.begun(),
    b.begun(),
    b.result(),
    at(2_000, a.cancelled()),
  ]),
  passes('a result, and the thread closed later', [a.begun(), a.result(), at(2_000, a.closed())]),
  skips('no callback until the user cancels', [
    a.begun(),
    [{ kind: 'decided', what: 'cancel', by: 'person', calls: ['a'] }],
    at(2_000, a.cancelled()),
  ]),
  skips('no callback until the end of a check, which closes the threads it did not wait for', [
    a.plannedFor([]),
    a.begun(),
    at(2_000, a.closed()),
  ]),
  skips('a result at a wrong address, which TOOL-OPAQUE covers', [
    a.begun(),
    stray({ type: 'tool_result', group_id: 'thread_a', id: 'a', text: 'done' }),
    at(2_000, a.closed()),
  ]),
  skips('an invalid result, which TOOL-POST covers', [
    a.begun(),
    a.result({ text: 7 }, { status: 400 }),
    a.waited(),
  ]),
  passes("results of two calls at each other's URL, which TOOL-ISOLATE covers", [
    a.begun(),
    b.begun(),
    b.result({ id: 'a', group_id: 'thread_a' }, { status: 404 }),
    a.waited(),
  ]),
];

const begun = () => a.begun();

const onceSamples: Samples = [
  passes('one result', [begun(), at(100, a.result()), at(1_100, discovery())], /at least 1s/),
  passes('the same result again', [begun(), a.result(), a.result()]),
  fails(
    'a second, different result',
    [begun(), a.result(), a.result({ text: 'done, too' })],
    /a second, different tool_result/,
  ),
  fails(
    'a second, different result, and none to a call that ran with it',
    [begun(), b.begun(), a.result(), a.result({ text: 'done, too' })],
    /came, and none to a call that ran at the same time/,
  ),
  fails(
    'a second, different result, and one to a call that ran with it',
    [begun(), b.begun(), a.result(), a.result({ text: 'done, too' }), b.result()],
    /a second, different tool_result came$/,
  ),
  warns('a different result after one that did not arrive', [
    begun(),
    a.result({}, { status: 503 }),
    a.result({ text: 'done at last' }),
  ]),
  passes('a different result after one that was refused', [
    begun(),
    a.result({}, { status: 404 }),
    a.result({ text: 'done at last' }),
  ]),
  skips('no result', [begun()]),
];

export const ENDINGS: SampleSet = {
  'TOOL-ALWAYS': alwaysSamples,
  'TOOL-ONCE': onceSamples,
};
