import { discovery, someCall } from '../parts.js';
import { passes, type Samples, skips, unclear, warns } from '../sample.js';

const unknown = someCall('unknown', { operation: 'no_such_thing' });
const badArguments = someCall('bad', { arguments: {} });

/** Samples for all calls that must be acknowledged and then refused. */
function refusalSamples(call: ReturnType<typeof someCall>): Samples {
  const begun = () => [...discovery(), ...call.sent(), ...call.answered()];
  return [
    passes('200, and an error result', [begun(), call.result({ text: 'Error: this cannot be; do that.' })]),
    passes('200, and a denial (seed 002)', [
      begun(),
      call.result({ text: '{"denied":{"reason":"not here"}}' }),
    ]),
    warns('400', [discovery(), call.sent(), call.answered({ status: 400 })], /answered 400/),
    warns('200, and success', [begun(), call.result()], /not an error/),
    warns('200, and no result', [begun(), call.waited()], /nothing within 5s/),
    unclear('200, at the end of the transcript', [begun()]),
    skips('no call', [discovery()]),
  ];
}

export const unknownOpSamples = refusalSamples(unknown);
export const badArgsSamples = refusalSamples(badArguments);
