import { someCall } from '../parts.js';
import { passes, type Samples, skips, unclear, warns } from '../sample.js';

const extra = someCall('extra', { x_trace: { a: [1] } });
const plain = someCall('plain');
const failure = { text: 'Error: nothing there.' };
const begun = () => [...extra.sent(), ...extra.answered()];
const compared = (fields: object) => [...plain.sent(), ...plain.answered(), ...plain.result(fields)];

export const extraSamples: Samples = [
  passes('a result', [begun(), extra.result()]),
  passes('a question', [begun(), extra.asks()]),
  passes('an error that comes without them, too', [compared(failure), begun(), extra.result(failure)]),
  warns(
    'an error that does not come without them',
    [compared({}), begun(), extra.result(failure)],
    /succeeded without the extra fields/,
  ),
  skips('an error, and nothing to compare it with', [begun(), extra.result(failure)]),
  unclear('an error of a check, which could not compare it with anything', [
    extra.plannedFor(['TOOL-EXTRA']),
    begun(),
    extra.result(failure),
  ]),
  warns('400', [compared({}), extra.sent(), extra.answered({ status: 400 })], /answered 400/),
  unclear('nothing, as without', [begun(), extra.waited()]),
  warns('nothing', [compared({}), begun(), extra.waited()], /dropped/),
  skips('no extra fields', [compared({})]),
];
