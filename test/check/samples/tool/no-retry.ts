import { at, eventsOf } from '../../../events/build.js';
import { planned, someCall } from '../parts.js';
import type { Samples } from '../sample.js';

const a = someCall('a');
const begun = () => [...a.sent(), ...a.answered()];
const refused = (status = 400) => a.result({}, { status });

export const noRetrySamples: Samples = [
  {
    story: 'not sent again within the time of a check',
    events: eventsOf(begun(), at(100, refused()), at(5_100, a.waited())),
    status: 'pass',
    says: /within 5s/,
  },
  {
    story: 'sent again',
    events: eventsOf(begun(), at(100, refused()), at(400, a.result())),
    status: 'warn',
    says: /answered 400, and sent again after 300ms/,
  },
  {
    story: 'another result, once the first was refused',
    events: eventsOf(begun(), at(100, refused()), at(400, a.result({ text: 'done, again' }))),
    status: 'warn',
    says: /answered 400, and another tool_result came/,
  },
  {
    story: 'nobody looked',
    events: eventsOf(begun(), at(100, refused())),
    status: 'not-applicable',
  },
  {
    story: 'a check that was cut short',
    events: eventsOf(planned(['TOOL-NORETRY']), begun(), at(100, refused())),
    status: 'could-not-run',
  },
  {
    story: 'sent again to who was too busy',
    events: eventsOf(begun(), at(100, refused(429)), at(400, a.result())),
    status: 'not-applicable',
  },
];
