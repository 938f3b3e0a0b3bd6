import { discovery, someCall } from '../parts.js';
import { fails, passes, type Samples, skips, warns } from '../sample.js';

const unknown = someCall('unknown', { operation: 'no_such_thing' });
const broken = someCall('broken', { arguments: { path: 7 } });
const other = someCall('other', { operation: 'no_such_thing' });
const sound = someCall('sound');
const valid = () => [...sound.sent(), ...sound.answered(), ...sound.result({ text: 'done as sound' })];

export const validateSamples: Samples = [
  passes('an error result for each call', [
    discovery(),
    unknown.sent(),
    unknown.answered(),
    unknown.result({ text: 'Error: no operation "no_such_thing"; try edit_file.' }),
    broken.sent(),
    broken.answered(),
    broken.result({ text: 'Error: path must be a string.' }),
  ]),
  passes('an error in other words', [
    discovery(),
    unknown.sent(),
    unknown.answered(),
    unknown.result({ text: 'unknown operation' }),
  ]),
  passes('a refusing acknowledgement', [discovery(), broken.sent(), broken.answered({ status: 400 })]),
  warns(
    'a successful unknown operation',
    [discovery(), unknown.sent(), unknown.answered(), unknown.result({ text: 'did no_such_thing' })],
    /unknown operation may have been executed/,
  ),
  fails(
    'an unknown operation with the result of a valid call',
    [discovery(), valid(), other.sent(), other.answered(), other.result({ text: 'done as other' })],
    /unknown operation was executed/,
  ),
  warns('a refusal in unknown words', [
    discovery(),
    valid(),
    broken.sent(),
    broken.answered(),
    broken.result({ text: 'Expected string, received number' }),
  ]),
  warns(
    'a question about invalid arguments, and then an error',
    [
      discovery(),
      broken.sent(),
      broken.answered(),
      broken.asks(),
      broken.result({ text: 'Error: path must be a string.' }),
    ],
    /and then an error/,
  ),
  fails(
    'successful invalid arguments',
    [discovery(), valid(), broken.sent(), broken.answered(), broken.result({ text: 'done as broken' })],
    /do not match its inputSchema was executed/,
  ),
  fails(
    'a question about invalid arguments',
    [discovery(), broken.sent(), broken.answered(), broken.asks()],
    /was started: a user_choice/,
  ),
  skips('no invalid call', [discovery(), sound.sent(), sound.answered(), sound.result()]),
  skips('a toolset that was not requested', [unknown.sent(), unknown.answered(), unknown.result()]),
];
