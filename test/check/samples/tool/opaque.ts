import { eventsOf } from '../../../events/build.js';
import { someCall, stray } from '../parts.js';
import { fails, passes, type Samples, skips, warns } from '../sample.js';

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
  passes(
    'the given URL, unchanged',
    [begun(), a.result({}, { url: given })],
    /also with a query, a trailing slash, encoded characters/,
  ),
  passes(
    "a plain URL, as in a tool's journal",
    [plain.sent(), plain.answered(), plain.result({}, { url: plain.invocation.callback_url })],
    undefined,
    { observer: 'tool' },
  ),
  passes('a path whose beginning a proxy removed', [
    begun(),
    a.result({}, { url: given.replace('/callback', '') }),
  ]),
  passes('a URL with other parts redacted in the request line', [
    redacted.sent(),
    redacted.answered(),
    redacted.result({}, { url: '/callback/t/?key=b&x=[redacted]' }),
  ]),
  fails(
    'a redacted URL without its query',
    [redacted.sent(), redacted.answered(), redacted.result({}, { url: '/callback/[redacted]/' })],
    /query was left out/,
  ),
  mangled('without its query', '/callback/t%C3%B6ken/', /query was left out/),
  mangled('with another query', '/callback/t%C3%B6ken/?key=b', /query was changed/),
  mangled('without its trailing slash', '/callback/t%C3%B6ken?key=a%20b&x=', /trailing slash/),
  mangled('decoded', '/callback/töken/?key=a%20b&x=', /encoding/),
  mangled('with a query in another encoding', '/callback/t%C3%B6ken/?key=a b&x=', /encoding/),
  mangled('another path', '/callback/?key=a%20b&x=', /path was changed/),
  fails(
    'a POST to a wrong address with the id of the call',
    [begun(), stray({ type: 'tool_result', group_id: 'thread_a', id: 'a', text: 'done' })],
    /1 post to a wrong callback address/,
  ),
  fails('a POST to a wrong address while the call times out', [begun(), stray(), a.waited()]),
  warns('a POST to a wrong address without an id', [begun(), a.result({}, { url: given }), stray()]),
  passes('a request for a favicon', [
    begun(),
    a.result({}, { url: given }),
    stray(undefined, { method: 'GET' }),
  ]),
  skips('no callback', [begun()]),
];
