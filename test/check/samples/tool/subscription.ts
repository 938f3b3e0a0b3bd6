import { at, eventsOf } from '../../../events/build.js';
import { discovery, planned, someCall } from '../parts.js';
import type { Samples } from '../sample.js';

const a = someCall('a');
const begun = () => [...a.sent(), ...a.answered()];
const subscribed = () => [...begun(), ...a.result({ text: 'Subscribed', subscription: true })];
const last = () => a.news({ text: 'the end', final: true });

export const subscriptionSamples: Samples = [
  { story: 'events until the last', events: eventsOf(subscribed(), a.news(), last()), status: 'pass' },
  {
    story: 'nothing after the last one, for as long as a check looks out',
    events: eventsOf(subscribed(), a.news(), last(), at(1_100, a.waited(1_000))),
    status: 'pass',
    says: /^nothing within 1s after the final event$/,
  },
  {
    story: 'a last event, watched by nobody',
    events: eventsOf(subscribed(), a.waited(1_000), last()),
    status: 'pass',
    says: /^seen once$/,
  },
  { story: 'the last one once more', events: eventsOf(subscribed(), last(), last()), status: 'pass' },
  {
    story: 'silence after a cancel',
    events: eventsOf(at(10, subscribed()), at(20, a.news()), at(100, a.cancelled()), at(2_100, discovery())),
    status: 'pass',
    says: /500ms to 2s after the cancel/,
  },
  {
    story: 'an event that crossed the cancel',
    events: eventsOf(at(10, subscribed()), at(100, a.cancelled()), at(200, a.news())),
    status: 'pass',
  },
  {
    story: 'one event long after a cancel, which a busy machine may have sent before',
    events: eventsOf(at(10, subscribed()), at(100, a.cancelled()), at(1_100, a.news({}, { status: 404 }))),
    status: 'pass',
    says: /^an event came 1s after the cancel was acknowledged, and may have been on its way/,
  },
  {
    story: 'one that is sent again until it is taken',
    events: eventsOf(
      at(10, subscribed()),
      at(90, a.news({}, { status: 503 })),
      at(100, a.cancelled()),
      at(700, a.news({}, { status: 503 })),
      at(1_100, a.news()),
    ),
    status: 'pass',
    says: /on its way/,
  },
  {
    story: 'event after event when it was cancelled',
    events: eventsOf(
      at(10, subscribed()),
      at(100, a.cancelled()),
      at(300, a.news({}, { status: 404 })),
      at(1_100, a.news({ text: 'more' }, { status: 404 })),
    ),
    status: 'fail',
    says: /more than 500ms after the cancel/,
  },
  {
    story: 'the same event time and again when it was cancelled, though it was taken',
    events: eventsOf(at(10, subscribed()), at(100, a.cancelled()), at(700, a.news()), at(900, a.news())),
    status: 'fail',
    says: /more than 500ms after the cancel/,
  },
  {
    story: 'an event after the last',
    events: eventsOf(subscribed(), last(), a.news({}, { status: 404 })),
    status: 'fail',
    says: /after the final one/,
  },
  {
    story: 'an event of a call that did not subscribe',
    events: eventsOf(begun(), a.result(), a.news({}, { status: 404 })),
    status: 'fail',
    says: /without a result with subscription: true/,
  },
  {
    story: 'an event before the result',
    events: eventsOf(at(10, begun()), at(20, a.news({}, { status: 404 })), at(900, subscribed().slice(2))),
    status: 'fail',
    says: /before the result/,
  },
  {
    story: 'an event that names nobody',
    events: eventsOf(subscribed(), a.news({ tool_call_id: 'sub-1' }, { status: 404 })),
    status: 'fail',
    says: /another tool_call_id: "sub-1"/,
  },
  {
    story: 'a call that should start one, and does not say so',
    events: eventsOf(a.plannedFor(['TOOL-SUB']), begun(), a.result()),
    status: 'fail',
    says: /should start a subscription/,
  },
  {
    story: 'an event that just overtook the result',
    events: eventsOf(at(10, begun()), at(20, a.news({}, { status: 404 })), at(30, subscribed().slice(2))),
    status: 'warn',
  },
  {
    story: 'a probe that came to nothing',
    events: eventsOf(planned(['TOOL-SUB']), begun()),
    status: 'could-not-run',
  },
  {
    story: 'a subscription of which no event came, and that nobody cancelled',
    events: eventsOf(subscribed()),
    status: 'not-applicable',
    says: /^a subscription was started, but no event came$/,
  },
  {
    story: 'one that was meant to be seen, and was cancelled too late for that',
    events: eventsOf(planned(['TOOL-SUB']), at(10, subscribed()), at(100, a.cancelled())),
    status: 'could-not-run',
    says: /^a subscription was started, but no event came$/,
  },
  { story: 'no subscription', events: eventsOf(begun(), a.result()), status: 'not-applicable' },
];
