import { eventsOf } from '../../../events/build.js';
import { someCall } from '../parts.js';
import type { Samples } from '../sample.js';

const extra = someCall('extra', { x_trace: { a: [1] } });
const plain = someCall('plain');
const failure = { text: 'Error: nothing there.' };
const begun = () => [...extra.sent(), ...extra.answered()];
const compared = (fields: object) => [...plain.sent(), ...plain.answered(), ...plain.result(fields)];

export const extraSamples: Samples = [
  { story: 'a result', events: eventsOf(begun(), extra.result()), status: 'pass' },
  { story: 'a question', events: eventsOf(begun(), extra.asks()), status: 'pass' },
  {
    story: 'an error that comes without them, too',
    events: eventsOf(compared(failure), begun(), extra.result(failure)),
    status: 'pass',
  },
  {
    story: 'an error that does not come without them',
    events: eventsOf(compared({}), begun(), extra.result(failure)),
    status: 'warn',
    says: /succeeded without the extra fields/,
  },
  {
    story: 'an error, and nothing to compare it with',
    events: eventsOf(begun(), extra.result(failure)),
    status: 'not-applicable',
  },
  {
    story: 'an error of a check, which could not compare it with anything',
    events: eventsOf(extra.plannedFor(['TOOL-EXTRA']), begun(), extra.result(failure)),
    status: 'could-not-run',
  },
  {
    story: '400',
    events: eventsOf(compared({}), extra.sent(), extra.answered({ status: 400 })),
    status: 'warn',
    says: /answered 400/,
  },
  { story: 'nothing, as without', events: eventsOf(begun(), extra.waited()), status: 'could-not-run' },
  {
    story: 'nothing',
    events: eventsOf(compared({}), begun(), extra.waited()),
    status: 'warn',
    says: /dropped/,
  },
  { story: 'no extra fields', events: eventsOf(compared({})), status: 'not-applicable' },
];
