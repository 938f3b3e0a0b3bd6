import { eventsOf } from '../../../events/build.js';
import { someCall, stray } from '../parts.js';
import type { Samples } from '../sample.js';

const plain = someCall('plain');
const a = someCall('a', { callback_url: 'http://127.0.0.1:4000/callback/t%C3%B6ken/?key=a%20b&x=' });
const redacted = someCall('r', {
  callback_url: 'http://127.0.0.1:4000/callback/[redacted]/?key=[redacted]&x=1',
});
const given = '/callback/t%C3%B6ken/?key=a%20b&x=';
const begun = () => [...a.sent(), ...a.answered()];

function mangled(story: string, url: string, says: RegExp): Samples[number] {
  return { story, events: eventsOf(begun(), a.result({}, { url })), status: 'fail', says };
}

export const opaqueSamples: Samples = [
  {
    story: 'the URL as it was given, with everything in it',
    events: eventsOf(begun(), a.result({}, { url: given })),
    status: 'pass',
    says: /also with a query, a trailing slash, encoded characters/,
  },
  {
    story: 'a plain URL, as a tool’s journal has it',
    events: eventsOf(
      plain.sent(),
      plain.answered(),
      plain.result({}, { url: plain.invocation.callback_url }),
    ),
    observer: 'tool',
    status: 'pass',
  },
  {
    story: 'a path whose beginning a proxy took away',
    events: eventsOf(begun(), a.result({}, { url: given.replace('/callback', '') })),
    status: 'pass',
  },
  {
    story: 'a URL of which other parts were redacted in the request line',
    events: eventsOf(
      redacted.sent(),
      redacted.answered(),
      redacted.result({}, { url: '/callback/t/?key=b&x=[redacted]' }),
    ),
    status: 'pass',
  },
  {
    story: 'a redacted URL without its query',
    events: eventsOf(
      redacted.sent(),
      redacted.answered(),
      redacted.result({}, { url: '/callback/[redacted]/' }),
    ),
    status: 'fail',
    says: /query was left out/,
  },
  mangled('without its query', '/callback/t%C3%B6ken/', /query was left out/),
  mangled('with another query', '/callback/t%C3%B6ken/?key=b', /query was changed/),
  mangled('without its trailing slash', '/callback/t%C3%B6ken?key=a%20b&x=', /trailing slash/),
  mangled('decoded', '/callback/töken/?key=a%20b&x=', /encoding/),
  mangled('with a query in another encoding', '/callback/t%C3%B6ken/?key=a b&x=', /encoding/),
  mangled('another path', '/callback/?key=a%20b&x=', /path was changed/),
  {
    story: 'a post to a wrong address that names the call',
    events: eventsOf(begun(), stray({ type: 'tool_result', group_id: 'thread_a', id: 'a', text: 'done' })),
    status: 'fail',
    says: /1 post to a wrong callback address/,
  },
  {
    story: 'a post to a wrong address while the call waits in vain',
    events: eventsOf(begun(), stray(), a.waited()),
    status: 'fail',
  },
  {
    story: 'a post of nobody knows whom to a wrong address',
    events: eventsOf(begun(), a.result({}, { url: given }), stray()),
    status: 'warn',
  },
  {
    story: 'somebody who looks for an icon',
    events: eventsOf(begun(), a.result({}, { url: given }), stray(undefined, { method: 'GET' })),
    status: 'pass',
  },
  { story: 'no callback', events: eventsOf(begun()), status: 'not-applicable' },
];
