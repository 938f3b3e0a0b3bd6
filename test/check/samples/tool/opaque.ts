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
    'the URL as it was given, with everything in it',
    [begun(), a.result({}, { url: given })],
    /also with a query, a trailing slash, encoded characters/,
  ),
  passes(
    'a plain URL, as a tool’s journal has it',
    [plain.sent(), plain.answered(), plain.result({}, { url: plain.invocation.callback_url })],
    undefined,
    { observer: 'tool' },
  ),
  passes('a path whose beginning a proxy took away', [
    begun(),
    a.result({}, { url: given.replace('/callback', '') }),
  ]),
  passes('a URL of which other parts were redacted in the request line', [
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
    'a post to a wrong address that names the call',
    [begun(), stray({ type: 'tool_result', group_id: 'thread_a', id: 'a', text: 'done' })],
    /1 post to a wrong callback address/,
  ),
  fails('a post to a wrong address while the call waits without success', [begun(), stray(), a.waited()]),
  warns('a post of no one knows whom to a wrong address', [begun(), a.result({}, { url: given }), stray()]),
  passes('someone who looks for an icon', [
    begun(),
    a.result({}, { url: given }),
    stray(undefined, { method: 'GET' }),
  ]),
  skips('no callback', [begun()]),
];
