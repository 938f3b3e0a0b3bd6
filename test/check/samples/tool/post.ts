import { eventsOf } from '../../../events/build.js';
import { someCall } from '../parts.js';
import type { Samples } from '../sample.js';

const a = someCall('a');
const begun = () => [...a.sent(), ...a.answered()];

export const postSamples: Samples = [
  { story: 'a POST of JSON', events: eventsOf(begun(), a.result()), status: 'pass' },
  {
    story: 'JSON that says that it is UTF-8',
    events: eventsOf(begun(), a.result({}, { type: 'application/json; charset=UTF-8' })),
    status: 'pass',
  },
  {
    story: 'no group_id, where none was given',
    events: eventsOf(
      a.sent({ ...a.invocation, group_id: undefined }),
      a.answered(),
      a.posts({ type: 'tool_result', id: 'a', text: 'Error: no group_id.' }, { status: 400 }),
    ),
    status: 'not-applicable',
  },
  {
    story: 'another content type',
    events: eventsOf(begun(), a.result({}, { type: 'text/plain' })),
    status: 'fail',
    says: /not application\/json/,
  },
  {
    story: 'another charset',
    events: eventsOf(begun(), a.result({}, { type: 'application/json; charset=latin1' })),
    status: 'fail',
  },
  {
    story: 'a PUT',
    events: eventsOf(begun(), a.result({}, { method: 'PUT', status: 405 })),
    status: 'fail',
    says: /"PUT"/,
  },
  {
    story: 'a content type that the listener refused',
    events: eventsOf(begun(), a.posts(null, { status: 415, refusal: 'its content type is no JSON' })),
    status: 'fail',
    says: /refused with 415: its content type/,
  },
  {
    story: 'what a listener refuses for reasons of its own',
    events: eventsOf(begun(), a.posts(null, { status: 413, refusal: 'its body is too large' })),
    status: 'warn',
    says: /too large/,
  },
  {
    story: 'a callback that was cut short',
    events: eventsOf(begun(), a.posts(null, { status: 408, refusal: 'it was too slow' })),
    status: 'not-applicable',
  },
  { story: 'no JSON', events: eventsOf(begun(), a.posts('{"text":', { status: 400 })), status: 'fail' },
  {
    story: 'no UTF-8',
    events: eventsOf(begun(), a.posts(Buffer.from([0x22, 0xff, 0x22]), { status: 400 })),
    status: 'fail',
    says: /UTF-8/,
  },
  {
    story: 'a result without a text',
    events: eventsOf(begun(), a.result({ text: undefined }, { status: 400 })),
    status: 'fail',
    says: /\$\.text/,
  },
  {
    story: 'content without a text',
    events: eventsOf(begun(), a.result({ text: undefined, content: [{ type: 'text', text: 'done' }] })),
    status: 'warn',
    says: /older runtimes/,
  },
  { story: 'no callback', events: eventsOf(begun()), status: 'not-applicable' },
];
