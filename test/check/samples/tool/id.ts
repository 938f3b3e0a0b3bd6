import { someCall } from '../parts.js';
import { fails, passes, type Samples, skips } from '../sample.js';

const a = someCall('a');
const b = someCall('b');
const begun = () => [...a.sent(), ...a.answered()];

export const idSamples: Samples = [
  passes('the id of the call', [begun(), a.asks(), a.result()]),
  fails(
    'an id made up by the tool',
    [begun(), a.result({ id: 'job-7' }, { status: 404 })],
    /another id: "job-7"/,
  ),
  fails('a question with an id made up by the tool', [begun(), a.oauth({ id: 'A' }, { status: 404 })]),
  skips('the id of another call, which TOOL-ISOLATE covers', [
    begun(),
    b.sent(),
    a.result({ id: 'b' }, { status: 404 }),
  ]),
  skips('an event with the id of another call, which TOOL-SUB covers', [
    begun(),
    a.news({ tool_call_id: 'x' }, { status: 404 }),
  ]),
];
