import { at } from '../../../events/build.js';
import { discovery, planned, someCall } from '../parts.js';
import { fails, passes, type Samples, skips, unclear, warns } from '../sample.js';

const a = someCall('a');
const begun = () => [...a.sent(), ...a.answered()];
const subscribed = () => [...begun(), ...a.result({ text: 'Subscribed', subscription: true })];
const last = () => a.news({ text: 'the end', final: true });

export const subscriptionSamples: Samples = [
  passes('events until the final one', [subscribed(), a.news(), last()]),
  passes(
    "no event after the final one, within a check's time limit",
    [subscribed(), a.news(), last(), at(1_100, a.waited(1_000))],
    /^nothing within 1s after the final event$/,
  ),
  passes(
    'a final event without an observation afterwards',
    [subscribed(), a.waited(1_000), last()],
    /^seen once$/,
  ),
  passes('the final event sent again', [subscribed(), last(), last()]),
  passes(
    'silence after a cancel',
    [at(10, subscribed()), at(20, a.news()), at(100, a.cancelled()), at(2_100, discovery())],
    /500ms to 2s after the cancel/,
  ),
  passes('an event that was sent before the cancel arrived', [
    at(10, subscribed()),
    at(100, a.cancelled()),
    at(200, a.news()),
  ]),
  passes(
    'one event long after a cancel, which a busy machine may have sent before',
    [at(10, subscribed()), at(100, a.cancelled()), at(1_100, a.news({}, { status: 404 }))],
    /^an event came 1s after the cancel was acknowledged, and may have been on its way/,
  ),
  passes(
    'an event that is sent again until it is accepted',
    [
      at(10, subscribed()),
      at(90, a.news({}, { status: 503 })),
      at(100, a.cancelled()),
      at(700, a.news({}, { status: 503 })),
      at(1_100, a.news()),
    ],
    /on its way/,
  ),
  fails(
    'many events after a cancel',
    [
      at(10, subscribed()),
      at(100, a.cancelled()),
      at(300, a.news({}, { status: 404 })),
      at(1_100, a.news({ text: 'more' }, { status: 404 })),
    ],
    /more than 500ms after the cancel/,
  ),
  fails(
    'the same accepted event repeatedly after a cancel',
    [at(10, subscribed()), at(100, a.cancelled()), at(700, a.news()), at(900, a.news())],
    /more than 500ms after the cancel/,
  ),
  fails(
    'an event after the final one',
    [subscribed(), last(), a.news({}, { status: 404 })],
    /after the final one/,
  ),
  fails(
    'an event of a call without a subscription',
    [begun(), a.result(), a.news({}, { status: 404 })],
    /without a result with subscription: true/,
  ),
  fails(
    'an event before the result',
    [at(10, begun()), at(20, a.news({}, { status: 404 })), at(900, subscribed().slice(2))],
    /before the result/,
  ),
  fails(
    'an event without an id',
    [subscribed(), a.news({ tool_call_id: 'sub-1' }, { status: 404 })],
    /another tool_call_id: "sub-1"/,
  ),
  fails(
    'a call that should start a subscription, and does not',
    [a.plannedFor(['TOOL-SUB']), begun(), a.result()],
    /should start a subscription/,
  ),
  warns('an event that arrived just before the result', [
    at(10, begun()),
    at(20, a.news({}, { status: 404 })),
    at(30, subscribed().slice(2)),
  ]),
  unclear('a planned probe without a subscription', [planned(['TOOL-SUB']), begun()]),
  skips(
    'a subscription without events that was not canceled',
    [subscribed()],
    /^a subscription was started, but no event came$/,
  ),
  unclear(
    'a subscription that was canceled too late to be tested',
    [planned(['TOOL-SUB']), at(10, subscribed()), at(100, a.cancelled())],
    /^a subscription was started, but no event came$/,
  ),
  skips('no subscription', [begun(), a.result()]),
];
