import { at, eventsOf } from '../../../events/build.js';
import { discovery, someCall } from '../parts.js';
import type { Samples } from '../sample.js';

const a = someCall('a');
const begun = () => [...a.sent(), ...a.answered()];

export const onceSamples: Samples = [
  {
    story: 'one result',
    events: eventsOf(begun(), at(100, a.result()), at(1_100, discovery())),
    status: 'pass',
    says: /at least 1s/,
  },
  { story: 'the same result again', events: eventsOf(begun(), a.result(), a.result()), status: 'pass' },
  {
    story: 'a second, other result',
    events: eventsOf(begun(), a.result(), a.result({ text: 'done, too' })),
    status: 'fail',
    says: /a second, different tool_result/,
  },
  {
    story: 'another result after one that did not arrive',
    events: eventsOf(begun(), a.result({}, { status: 503 }), a.result({ text: 'done at last' })),
    status: 'warn',
  },
  {
    story: 'another result after one that was refused',
    events: eventsOf(begun(), a.result({}, { status: 404 }), a.result({ text: 'done at last' })),
    status: 'pass',
  },
  { story: 'no result', events: eventsOf(begun()), status: 'not-applicable' },
];
