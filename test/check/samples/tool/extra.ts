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
  passes('an error that also comes without the extra fields', [
    compared(failure),
    begun(),
    extra.result(failure),
  ]),
  warns(
    'an error that does not come without the extra fields',
    [compared({}), begun(), extra.result(failure)],
    /succeeded without the extra fields/,
  ),
  skips('an error, and no call to compare it with', [begun(), extra.result(failure)]),
  unclear('an error in a check, with no call to compare it with', [
    extra.plannedFor(['TOOL-EXTRA']),
    begun(),
    extra.result(failure),
  ]),
  warns('400', [compared({}), extra.sent(), extra.answered({ status: 400 })], /answered 400/),
  unclear('no result, as without the extra fields', [begun(), extra.waited()]),
  warns('no result', [compared({}), begun(), extra.waited()], /dropped/),
  skips('no extra fields', [compared({})]),
];
