import { eventsOf } from '../../../events/build.js';
import { discovery, someCall } from '../parts.js';
import type { Samples } from '../sample.js';

const unknown = someCall('unknown', { operation: 'no_such_thing' });
const badArguments = someCall('bad', { arguments: {} });

/** What is alike for everything that is acknowledged and then refused. */
function refusalSamples(call: ReturnType<typeof someCall>): Samples {
  const begun = () => [...discovery(), ...call.sent(), ...call.answered()];
  return [
    {
      story: '200, and an error result',
      events: eventsOf(begun(), call.result({ text: 'Error: this cannot be; do that.' })),
      status: 'pass',
    },
    {
      story: '200, and a denial (seed 002)',
      events: eventsOf(begun(), call.result({ text: '{"denied":{"reason":"not here"}}' })),
      status: 'pass',
    },
    {
      story: '400',
      events: eventsOf(discovery(), call.sent(), call.answered({ status: 400 })),
      status: 'warn',
      says: /answered 400/,
    },
    {
      story: '200, and success',
      events: eventsOf(begun(), call.result()),
      status: 'warn',
      says: /not an error/,
    },
    {
      story: '200, and nothing',
      events: eventsOf(begun(), call.waited()),
      status: 'warn',
      says: /nothing within 5s/,
    },
    { story: '200, and then the transcript ends', events: eventsOf(begun()), status: 'could-not-run' },
    { story: 'no call', events: eventsOf(discovery()), status: 'not-applicable' },
  ];
}

export const unknownOpSamples = refusalSamples(unknown);
export const badArgsSamples = refusalSamples(badArguments);
