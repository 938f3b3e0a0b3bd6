import { at } from '../../../events/build.js';
import { discovery, someCall } from '../parts.js';
import { passes, type Samples, skips, warns } from '../sample.js';

const a = someCall('a');
const begun = () => [...a.sent(), ...a.answered()];
const fails = () => a.result({}, { status: 500 });

export const retrySamples: Samples = [
  passes(
    'retried with growing pauses',
    [begun(), at(100, fails()), at(300, fails()), at(900, a.result())],
    /^2 retries, after 200ms and 600ms$/,
  ),
  passes('retried after a lost response', [
    begun(),
    at(100, a.result({}, { status: null })),
    at(300, a.result()),
  ]),
  passes('retried with other bytes', [
    begun(),
    at(100, fails()),
    at(300, a.posts('{ "id": "a", "type": "tool_result", "group_id": "thread_a", "text": "done" }')),
  ]),
  warns(
    'retried repeatedly without a pause',
    [begun(), at(100, fails()), at(101, fails()), at(103, a.result())],
    /without growing pauses/,
  ),
  warns(
    'retried repeatedly after the same short pause',
    [begun(), at(100, fails()), at(104, fails()), at(108, a.result())],
    /after 4ms and 4ms: without growing pauses/,
  ),
  passes('retried after short pauses that grow', [
    begun(),
    at(100, fails()),
    at(111, fails()),
    at(142, a.result()),
  ]),
  passes(
    'retried twice after the same pause',
    [begun(), at(100, fails()), at(205, fails()), at(286, a.result())],
    /^2 retries, after 105ms and 81ms: the pauses do not grow each time, which may be chance$/,
  ),
  warns(
    'retried many times after the same pause',
    [begun(), at(100, fails()), at(150, fails()), at(205, fails()), at(256, a.result())],
    /^3 retries, after 50ms, 55ms and 51ms: without growing pauses$/,
  ),
  passes(
    'retried after pauses of which one is long',
    [begun(), at(100, fails()), at(150, fails()), at(450, fails()), at(500, a.result())],
    /after 50ms, 300ms and 50ms$/,
  ),
  warns('no retry', [begun(), at(100, fails()), at(5_100, a.waited())], /within 5s.*--probe-timeout/),
  skips('a canceled call', [begun(), a.cancelled(), fails()]),
  skips('no failure', [begun(), a.result(), discovery()]),
];
