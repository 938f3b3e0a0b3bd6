import { discovery, someCall } from '../parts.js';
import { passes, type Samples, skips, warns } from '../sample.js';

const a = someCall('a');
const unknown = someCall('unknown', { operation: 'no_such_thing' });
const says = (text: string) => [...a.sent(), ...a.answered(), ...a.result({ text })];
const refusedWith = (text: string) => [
  ...discovery(),
  ...unknown.sent(),
  ...unknown.answered(),
  ...unknown.result({ text }),
];

export const errorPrefixSamples: Samples = [
  passes('an error with advice', [says('Error: busy, retry in 60 s')]),
  passes('a denial (seed 002)', [refusedWith('{"denied":{"tool":"no_such_thing","reason":"not here"}}')]),
  warns(
    'an unknown operation in other words',
    [refusedWith('unknown operation: no_such_thing')],
    /does not start/,
  ),
  warns('ERROR in capitals', [says('ERROR: busy')]),
  warns('an exception', [says('ValueError: busy')]),
  warns('an error as JSON', [says('{"error":{"message":"busy"}}')]),
  warns('an empty error', [says('Error: ')], /no message/),
  skips('success', [says('3 errors were fixed')]),
];
