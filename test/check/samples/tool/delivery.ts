import { at, eventsOf, stalledAt } from '../../../events/build.js';
import { planned, someCall, stray } from '../parts.js';
import { fails, passes, type SampleSet, type Samples, skips, unclear, warns } from '../sample.js';

const a = someCall('a');

const b = someCall('b');

const begun = () => a.begun();

const retryFails = () => a.result({}, { status: 500 });

const lost = a.result({}, { status: null });

const retrySamples: Samples = [
  passes(
    'retried with growing pauses',
    [begun(), at(100, retryFails()), at(300, retryFails()), at(600, a.result())],
    /^2 retries, after 200ms and 300ms$/,
  ),
  passes('retried after a lost response', [
    begun(),
    at(100, a.result({}, { status: null })),
    at(300, a.result()),
  ]),
  passes('retried after pauses in which the check could not run', [
    begun(),
    at(100, retryFails()),
    stalledAt(300, 198, retryFails()),
    stalledAt(600, 497, a.result()),
  ]),
  passes('retried with other bytes', [
    begun(),
    at(100, retryFails()),
    at(300, a.posts('{ "id": "a", "type": "tool_result", "group_id": "thread_a", "text": "done" }')),
  ]),
  warns(
    'retried repeatedly without a pause',
    [begun(), at(100, retryFails()), at(101, retryFails()), at(103, a.result())],
    /: the pauses are too short$/,
  ),
  warns(
    'retried repeatedly after the same short pause',
    [begun(), at(100, retryFails()), at(104, retryFails()), at(108, a.result())],
    /after 4ms and 4ms: the pauses do not grow/,
  ),
  passes('retried after short pauses that grow', [
    begun(),
    at(100, retryFails()),
    at(111, retryFails()),
    at(142, a.result()),
  ]),
  passes(
    'retried twice after the same pause',
    [begun(), at(100, retryFails()), at(205, retryFails()), at(286, a.result())],
    /^2 retries, after 105ms and 81ms: the pauses do not grow each time, which may be chance$/,
  ),
  warns(
    'retried many times after the same pause',
    [begun(), at(100, retryFails()), at(150, retryFails()), at(205, retryFails()), at(256, a.result())],
    /^3 retries, after 50ms, 55ms and 51ms: the pauses do not grow$/,
  ),
  passes(
    'retried after pauses of which one is long',
    [begun(), at(100, retryFails()), at(150, retryFails()), at(450, retryFails()), at(500, a.result())],
    /after 50ms, 300ms and 50ms$/,
  ),
  passes(
    'retried after a pause, and after one of which the observer missed the most',
    [begun(), at(100, retryFails()), at(216, retryFails()), stalledAt(525, 200, a.result())],
    /^2 retries, after 116ms and 309ms$/,
  ),
  skips('a canceled call', [begun(), a.cancelled(), retryFails()]),
  skips('a callback that was lost after its thread was closed', [
    begun(),
    lost.slice(0, 1),
    a.closed(),
    lost.slice(1),
    at(9_000, a.waited()),
  ]),
];

const refused = () => a.result({}, { status: 400 });

const probed = () => [...a.plannedFor(['TOOL-NORETRY']), ...begun()];

const noRetrySamples: Samples = [
  passes(
    "no retry within a check's time limit",
    [begun(), at(100, refused()), at(5_100, a.waited())],
    /within 5s/,
  ),
  warns(
    'a retry',
    [begun(), at(100, refused()), at(400, a.result())],
    /answered 400, and sent again after 300ms/,
  ),
  warns(
    'another result after the first was refused',
    [begun(), at(100, refused()), at(400, a.result({ text: 'done, again' }))],
    /answered 400, and another tool_result came/,
  ),
  skips('no observation', [begun(), at(100, refused())]),
  passes(
    'no retry after a 200 with a body, in a check',
    [probed(), at(100, a.result({}, { body: '<html>' })), at(2_100, a.waited())],
    /not sent again within 2s/,
  ),
  warns(
    'a retry after a 200 with a body, in a check',
    [probed(), at(100, a.result({}, { body: '{"retry":true}' })), at(400, a.result())],
    /answered 200 with a body, and sent again/,
  ),
  skips('a retry after a 200 with a body that may have been lost', [
    begun(),
    at(100, a.result({}, { body: '{"ok":true}' })),
    at(400, a.result()),
  ]),
  unclear('a tool that repeats every result', [
    probed(),
    at(100, a.result({}, { body: '<html>' })),
    at(110, a.result()),
    at(120, b.begun()),
    at(200, b.result()),
    at(210, b.result()),
  ]),
  unclear('an aborted check', [planned(['TOOL-NORETRY']), begun(), at(100, refused())]),
];

const plain = someCall('plain');

const opaqueA = someCall('a', { callback_url: 'http://127.0.0.1:4000/callback/t%C3%B6ken/?key=a%20b&x=' });

const redacted = someCall('r', {
  callback_url: 'http://127.0.0.1:4000/callback/[redacted]/?key=[redacted]&x=1',
});

const escaped = someCall('e', {
  callback_url: 'http://127.0.0.1:4000/callback/[redacted]/%c3%a9%7E?key=[redacted]',
});

const given = '/callback/t%C3%B6ken/?key=a%20b&x=';

const opaqueBegun = () => opaqueA.begun();

function mangled(title: string, url: string, says: RegExp): Samples[number] {
  return { title, events: eventsOf(opaqueBegun(), opaqueA.result({}, { url })), status: 'fail', says };
}

const opaqueSamples: Samples = [
  passes('the given URL, unchanged', [opaqueBegun(), opaqueA.result({}, { url: given })]),
  passes(
    "a plain URL, as in a tool's journal",
    [plain.begun(), plain.result({}, { url: plain.invocation.callback_url })],
    undefined,
    { observer: 'tool' },
  ),
  passes('equivalent escapes', [
    opaqueBegun(),
    opaqueA.result({}, { url: '/callback/t%c3%b6%6ben/?key=a%20b&x=' }),
  ]),
  passes('equivalent escapes in a redacted URL', [
    escaped.begun(),
    escaped.result({}, { url: '/callback/[redacted]/%C3%A9~?key=[redacted]' }),
  ]),
  passes('a path whose beginning a proxy removed', [
    opaqueBegun(),
    opaqueA.result({}, { url: given.replace('/callback', '') }),
  ]),
  passes('a URL with other parts redacted in the request line', [
    redacted.begun(),
    redacted.result({}, { url: '/callback/t/?key=b&x=[redacted]' }),
  ]),
  fails(
    'a redacted URL without its query',
    [redacted.begun(), redacted.result({}, { url: '/callback/[redacted]/' })],
    /query was left out/,
  ),
  mangled('with another query', '/callback/t%C3%B6ken/?key=b', /query was changed/),
  mangled('decoded', '/callback/töken/?key=a%20b&x=', /encoding/),
  mangled(
    'with a query in another encoding',
    '/callback/t%C3%B6ken/?key=a b&x=',
    /the encoding of its query was changed/,
  ),
  mangled('another path', '/callback/?key=a%20b&x=', /path was changed/),
  fails(
    'a POST to a wrong address with the id of the call',
    [opaqueBegun(), stray({ type: 'tool_result', group_id: 'thread_a', id: 'a', text: 'done' })],
    /^a tool_result was posted to a wrong address: \/callback\/…$/,
  ),
  fails('a POST to a wrong address with the id of the call, and with another thread', [
    opaqueBegun(),
    stray({ type: 'tool_result', group_id: 'thread_b', id: 'a', text: 'done' }),
  ]),
  fails('a POST to a wrong address with the ids of the call, and an invalid body', [
    opaqueBegun(),
    stray({ type: 'tool_result', group_id: 'thread_a', id: 'a' }),
  ]),
  fails('a POST to a wrong address while the call times out', [opaqueBegun(), stray(), opaqueA.waited()]),
  warns('a POST to a wrong address without an id', [
    opaqueBegun(),
    opaqueA.result({}, { url: given }),
    stray(),
  ]),
  skips('no callback', [opaqueBegun()]),
];

const postSamples: Samples = [
  passes('a POST of JSON', [begun(), a.result()]),
  passes('JSON with the charset UTF-8', [begun(), a.result({}, { type: 'application/json; charset=UTF-8' })]),
  skips('no group_id, as none was given', [
    a.sent({ ...a.invocation, group_id: undefined }),
    a.answered(),
    a.posts({ type: 'tool_result', id: 'a', text: 'Error: no group_id.' }, { status: 400 }),
  ]),
  fails('another charset', [begun(), a.result({}, { type: 'application/json; charset=latin1' })]),
  fails('a PUT', [begun(), a.result({}, { method: 'PUT', status: 405 })], /"PUT"/),
  fails(
    'a content type that the listener refused',
    [begun(), a.posts(null, { status: 415, refusal: 'its content type is not JSON' })],
    /refused with 415: its content type/,
  ),
  warns(
    'a callback that the listener refused for other reasons',
    [begun(), a.posts(null, { status: 413, refusal: 'its body is too large' })],
    /too large/,
  ),
  skips('an incomplete callback', [begun(), a.posts(null, { status: 408, refusal: 'it was too slow' })]),
  fails('invalid UTF-8', [begun(), a.posts(Buffer.from([0x22, 0xff, 0x22]), { status: 400 })], /UTF-8/),
  warns(
    'content without a text',
    [begun(), a.result({ text: undefined, content: [{ type: 'text', text: 'done' }] })],
    /older runtimes/,
  ),
  fails(
    'a text segment and an image segment without their content',
    [
      begun(),
      a.result({
        display_as: [
          { type: 'image', content: { data: 'AAAA', media_type: 'image/png' } },
          { type: 'text', content: 42 },
        ],
      }),
    ],
    /^invalid callback: display_as\[0\]: malformed image: .*mediaType: is required; display_as\[1\]: malformed text: /,
  ),
  passes('a segment of an unknown type, with any content and with none', [
    begun(),
    a.result({
      display_as: [{ type: 'table', content: 42 }, { type: 'map' }, { type: 'text', content: 'a line' }],
    }),
  ]),
  ...[
    { content: [{ type: 'text', text: 'a cat' }, imageOf('data:image/png;base64,AAAA')] },
    {
      display_as: [
        { type: 'image', content: imageOf('not base64') },
        { type: 'text', content: 'a cat' },
      ],
    },
  ].map(fields =>
    warns(
      `an image whose data is not base64: ${Object.keys(fields)}`,
      [begun(), a.result(fields)],
      /\]\S*\.data is not base64$/,
    ),
  ),
  passes('an image in base64 with line breaks and without padding', [
    begun(),
    a.result({ text: 'a cat', content: [{ type: 'text', text: 'a cat' }, imageOf('iVBORw0K\r\nGgo')] }),
  ]),
  skips('no callback', [begun()]),
];

function imageOf(data: string) {
  return { type: 'image', data, mediaType: 'image/png' };
}

export const DELIVERY: SampleSet = {
  'TOOL-RETRY': retrySamples,
  'TOOL-NORETRY': noRetrySamples,
  'TOOL-OPAQUE': opaqueSamples,
  'TOOL-POST': postSamples,
};
