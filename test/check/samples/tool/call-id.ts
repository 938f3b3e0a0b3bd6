import { someCall } from '../parts.js';
import { fails, passes, type Samples, skips } from '../sample.js';

const a = someCall('a', { call_id: 'fc_1' });
const plain = someCall('plain');
const begun = () => [...a.sent(), ...a.answered()];

export const callIdSamples: Samples = [
  passes('the given call_id', [begun(), a.result({ call_id: 'fc_1' })]),
  fails('no call_id although one was given', [begun(), a.result()], /no call_id/),
  fails('null although one was given', [begun(), a.result({ call_id: null })]),
  fails('another call_id', [begun(), a.asks({ call_id: 'FC_1' })], /another call_id: "FC_1"/),
  fails(
    'a call_id although none was given',
    [plain.sent(), plain.answered(), plain.result({ call_id: 'plain' })],
    /another call_id: "plain"/,
  ),
  skips('none given and none sent', [plain.sent(), plain.answered(), plain.result({ call_id: null })]),
];
