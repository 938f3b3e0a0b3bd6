import { at, eventsOf } from '../../../events/build.js';
import { someCall } from '../parts.js';
import type { Samples } from '../sample.js';

const a = someCall('a');
const begun = () => [...a.sent(), ...a.answered()];
const asked = (fields: object = {}) => [...begun(), ...a.asks(fields)];

export const choiceSamples: Samples = [
  {
    story: 'a result after the selection',
    events: eventsOf(asked(), a.selected(), a.result()),
    status: 'pass',
  },
  {
    story: 'the next question after the selection',
    events: eventsOf(asked(), a.selected(), a.asks({ prompt: 'When?' })),
    status: 'pass',
  },
  {
    story: 'no choices',
    events: eventsOf(begun(), a.asks({ choices: [], default: 0 }, { status: 400 })),
    status: 'fail',
    says: /choices/,
  },
  {
    story: 'a default out of range',
    events: eventsOf(begun(), a.asks({ default: 2 }, { status: 400 })),
    status: 'fail',
    says: /default/,
  },
  {
    story: 'a response_url that knows nothing',
    events: eventsOf(asked(), a.selected({ status: 404 })),
    status: 'fail',
    says: /answered 404/,
  },
  {
    story: 'a response_url that nobody serves',
    events: eventsOf(asked(), a.selected({ status: null, code: 'ECONNREFUSED' })),
    status: 'fail',
    says: /ECONNREFUSED/,
  },
  {
    story: 'a selection that leads to nothing',
    events: eventsOf(asked(), a.selected(), at(5_000, a.waited())),
    status: 'fail',
    says: /within 5s of the selection/,
  },
  {
    story: 'a selection that leads to nothing but what the end of the thread brings about',
    events: eventsOf(asked(), a.selected(), at(5_000, a.waited()), a.closed(), a.result()),
    status: 'fail',
    says: /within 5s of the selection/,
  },
  {
    story: 'a selection at the end of the transcript',
    events: eventsOf(asked(), a.selected()),
    status: 'could-not-run',
  },
  { story: 'a question that nobody answered', events: eventsOf(asked()), status: 'not-applicable' },
];
