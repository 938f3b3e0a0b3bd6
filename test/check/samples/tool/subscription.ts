import { at } from '../../../events/build.js';
import { discovery, planned, someCall } from '../parts.js';
import { fails, passes, type Samples, skips, unclear, warns } from '../sample.js';

const a = someCall('a');
const begun = () => [...a.sent(), ...a.answered()];
const subscribed = () => [...begun(), ...a.result({ text: 'Subscribed', subscription: true })];
const last = () => a.news({ text: 'the end', final: true });

export const subscriptionSamples: Samples = [
  passes('events until the last', [subscribed(), a.news(), last()]),
  passes(
    'nothing after the last one, for as long as a check looks out',
    [subscribed(), a.news(), last(), at(1_100, a.waited(1_000))],
    /^nothing within 1s after the final event$/,
  ),
  passes('a last event, watched by no one', [subscribed(), a.waited(1_000), last()], /^seen once$/),
  passes('the last one once more', [subscribed(), last(), last()]),
  passes(
    'silence after a cancel',
    [at(10, subscribed()), at(20, a.news()), at(100, a.cancelled()), at(2_100, discovery())],
    /500ms to 2s after the cancel/,
  ),
  passes('an event that crossed the cancel', [
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
    'one that is sent again until it is taken',
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
    'event after event when it was cancelled',
    [
      at(10, subscribed()),
      at(100, a.cancelled()),
      at(300, a.news({}, { status: 404 })),
      at(1_100, a.news({ text: 'more' }, { status: 404 })),
    ],
    /more than 500ms after the cancel/,
  ),
  fails(
    'the same event time and again when it was cancelled, though it was taken',
    [at(10, subscribed()), at(100, a.cancelled()), at(700, a.news()), at(900, a.news())],
    /more than 500ms after the cancel/,
  ),
  fails(
    'an event after the last',
    [subscribed(), last(), a.news({}, { status: 404 })],
    /after the final one/,
  ),
  fails(
    'an event of a call that did not subscribe',
    [begun(), a.result(), a.news({}, { status: 404 })],
    /without a result with subscription: true/,
  ),
  fails(
    'an event before the result',
    [at(10, begun()), at(20, a.news({}, { status: 404 })), at(900, subscribed().slice(2))],
    /before the result/,
  ),
  fails(
    'an event that names no one',
    [subscribed(), a.news({ tool_call_id: 'sub-1' }, { status: 404 })],
    /another tool_call_id: "sub-1"/,
  ),
  fails(
    'a call that should start one, and does not say so',
    [a.plannedFor(['TOOL-SUB']), begun(), a.result()],
    /should start a subscription/,
  ),
  warns('an event that just overtook the result', [
    at(10, begun()),
    at(20, a.news({}, { status: 404 })),
    at(30, subscribed().slice(2)),
  ]),
  unclear('a probe that came to nothing', [planned(['TOOL-SUB']), begun()]),
  skips(
    'a subscription of which no event came, and that no one cancelled',
    [subscribed()],
    /^a subscription was started, but no event came$/,
  ),
  unclear(
    'one that was meant to be seen, and was cancelled too late for that',
    [planned(['TOOL-SUB']), at(10, subscribed()), at(100, a.cancelled())],
    /^a subscription was started, but no event came$/,
  ),
  skips('no subscription', [begun(), a.result()]),
];
