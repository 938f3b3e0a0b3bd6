import { someCall } from '../parts.js';
import { fails, passes, type Samples, skips } from '../sample.js';

const a = someCall('a');
const b = someCall('b');
const begun = () => [...a.sent(), ...a.answered()];

export const idSamples: Samples = [
  passes('the id of the call', [begun(), a.asks(), a.result()]),
  fails(
    'an id of the tool’s own',
    [begun(), a.result({ id: 'job-7' }, { status: 404 })],
    /another id: "job-7"/,
  ),
  fails('a question with an id of the tool’s own', [begun(), a.oauth({ id: 'A' }, { status: 404 })]),
  skips('the id of another call, which is of TOOL-ISOLATE', [
    begun(),
    b.sent(),
    a.result({ id: 'b' }, { status: 404 }),
  ]),
  skips('an event that names another call, which is of TOOL-SUB', [
    begun(),
    a.news({ tool_call_id: 'x' }, { status: 404 }),
  ]),
];
