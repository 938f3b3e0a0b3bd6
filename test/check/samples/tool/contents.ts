import { eventsOf } from '../../../events/build.js';
import { discovery, planned, someCall } from '../parts.js';
import { fails, passes, type SampleSet, type Samples, skips, unclear, warns } from '../sample.js';

const a = someCall('a');

const b = someCall('b');

const begun = () => a.begun();

const groupSamples: Samples = [
  passes('the group_id of the call', [begun(), a.oauth(), a.result()]),
  fails(
    'an unknown group_id',
    [begun(), a.result({ group_id: 'default' }, { status: 404 })],
    /another group_id: "default"/,
  ),
  fails('a view of another thread', [
    begun(),
    a.posts({ type: 'view_update', group_id: '', view_type: 'diff', content: {} }, { status: 404 }),
  ]),
  skips('the group_id of another call, which TOOL-ISOLATE covers', [
    begun(),
    b.sent(),
    a.result({ group_id: 'thread_b' }, { status: 404 }),
  ]),
];

const idSamples: Samples = [
  passes('the id of the call', [begun(), a.asks(), a.result()]),
  fails(
    'an id made up by the tool',
    [begun(), a.result({ id: 'job-7' }, { status: 404 })],
    /another id: "job-7"/,
  ),
  fails('a question with an id made up by the tool', [begun(), a.oauth({ id: 'A' }, { status: 404 })]),
  skips('the id of another call, which TOOL-ISOLATE covers', [
    begun(),
    b.sent(),
    a.result({ id: 'b' }, { status: 404 }),
  ]),
  skips('an event with the id of another call, which TOOL-SUB covers', [
    begun(),
    a.news({ tool_call_id: 'x' }, { status: 404 }),
  ]),
];

const callIdA = someCall('a', { call_id: 'fc_1' });

const plain = someCall('plain');

const callIdBegun = () => callIdA.begun();

const callIdSamples: Samples = [
  passes('the given call_id', [callIdBegun(), callIdA.result({ call_id: 'fc_1' })]),
  passes('a question without it, and a result with it', [
    callIdBegun(),
    callIdA.asks({ call_id: undefined }),
    callIdA.result({ call_id: 'fc_1' }),
  ]),
  fails('null although one was given', [callIdBegun(), callIdA.result({ call_id: null })]),
  fails('another one in a question', [callIdBegun(), callIdA.asks({ call_id: 'fc_2' })], /user_choice/),
  fails(
    'a call_id although none was given',
    [plain.begun(), plain.result({ call_id: 'plain' })],
    /another call_id: "plain"/,
  ),
  skips('none given and none sent', [plain.begun(), plain.result({ call_id: null })]),
  skips('the ids of another call, which had no call_id and which TOOL-ISOLATE covers', [
    callIdBegun(),
    b.sent(),
    callIdA.result({ id: 'b', group_id: 'thread_b', call_id: null }, { status: 404 }),
  ]),
];

const isolateA = someCall('a', { call_id: 'fc_a' });

const isolateB = someCall('b', { call_id: 'fc_b' });

const both = () => [...isolateA.sent(), ...isolateB.sent(), ...isolateA.answered(), ...isolateB.answered()];

const isolateSamples: Samples = [
  passes(
    'two concurrent calls, each with its own result',
    [both(), isolateB.result({ call_id: 'fc_b' }), isolateA.result({ call_id: 'fc_a' })],
    /2 calls that overlapped/,
  ),
  fails(
    'the result of a call at the URL of another call',
    [both(), isolateA.result({ id: 'b', group_id: 'thread_b' }, { status: 404 })],
    /group_id, id of another call/,
  ),
  fails('the thread of another call', [
    both(),
    isolateA.result({ group_id: 'thread_b' }, { status: 404 }),
    isolateB.result(),
  ]),
  fails(
    'the call_id of another call',
    [both(), isolateA.result({ call_id: 'fc_b' }), isolateB.result()],
    /call_id/,
  ),
  fails(
    'the result of one call several times, and no result of those that ran with it',
    [both(), isolateB.result(), isolateB.result(), isolateA.waited()],
    /a call got 2 results, and 1 that ran at the same time got none/,
  ),
  fails('the same in a recording whose runtime gave up', [
    both(),
    isolateB.result(),
    isolateB.result(),
    isolateA.closed(),
  ]),
  skips('the result of one call several times, after the other was canceled', [
    both(),
    isolateA.cancelled(),
    isolateB.result(),
    isolateB.result(),
  ]),
  passes('a result again that was not accepted at once, and a slow call', [
    both(),
    isolateB.result({}, { status: 503 }),
    isolateB.result(),
    isolateA.result(),
  ]),
  skips('two calls, of which one has no result yet', [both(), isolateB.result()]),
  skips('two calls, one after the other', [
    isolateA.begun(),
    isolateA.result(),
    isolateB.begun(),
    isolateB.result(),
  ]),
  unclear('only one of two planned calls', [planned(['TOOL-ISOLATE']), isolateA.begun(), isolateA.result()]),
];

const unknown = someCall('unknown', { operation: 'no_such_thing' });

const says = (text: string) => [...a.begun(), ...a.result({ text })];

const refusedWith = (text: string) => [...discovery(), ...unknown.begun(), ...unknown.result({ text })];

const errorPrefixSamples: Samples = [
  passes('an error with advice', [says('Error: busy, retry in 60 s')]),
  passes('a denial (seed 002)', [refusedWith('{"denied":{"tool":"no_such_thing","reason":"not here"}}')]),
  warns(
    'an unknown operation in other words',
    [refusedWith('unknown operation: no_such_thing')],
    /does not start/,
  ),
  warns('ERROR in capitals', [says('ERROR: busy')]),
  warns('an exception', [says('ValueError: busy')]),
  warns('an error as JSON', [says('{"error":{"message":"busy"}}')]),
  skips('success', [says('3 errors were fixed')]),
];

const { callback_url: url } = a.invocation;

const password = 'correct-horse-battery-staple';

const secretBegun = () => [...a.sent(a.invocation, { authorization: `Bearer ${password}` }), ...a.answered()];

function leak(title: string, fields: object, says: RegExp): Samples[number] {
  return { title, events: eventsOf(secretBegun(), a.result(fields)), status: 'fail', says };
}

const saved = someCall('saved', { callback_url: 'http://127.0.0.1:4000/callback/[redacted]' });

const github = `ghp_${'a1B2'.repeat(9)}`;

const asked = someCall('asked', { arguments: { path: 'a', token: github } });

const secretSamples: Samples = [
  passes('a result with long words', [
    secretBegun(),
    a.result({ text: `sk-learn, Bearer of news, sha256 ${'0a'.repeat(32)}` }),
  ]),
  passes('URLs without a password, and examples of URLs with one', [
    secretBegun(),
    a.result({
      text: 'http://localhost:3000/@home, mailto:a:b@c, postgres://user:password@host/app, redis://:***@host, https://ann@host:80/x@y',
    }),
  ]),
  leak('a URL with a password', { text: 'at redis://:5f8a1c@cache:6379/0' }, /a URL with a password/),
  passes('a text from the arguments', [asked.begun(), asked.result({ text: `saved ${github}` })]),
  leak('the token of it', { text: url.split('/').at(-1) }, /callback URL's token/),
  leak(
    'the credential of the call',
    { text: 'ok', debug: { got: password } },
    /authorization is in debug\.got/,
  ),
  leak('a private key', { text: '-----BEGIN RSA PRIVATE KEY-----\nMII' }, /private key/),
  leak('an AWS key', { text: 'key AKIAIOSFODNN7EXAMPLE' }, /AKIA/),
  leak('a bearer token', { text: `Authorization: Bearer ${'x1'.repeat(12)}` }, /bearer/),
  leak(
    'a JSON Web Token',
    { text: `eyJ${'a'.repeat(20)}.eyJ${'b'.repeat(20)}.${'c'.repeat(20)}` },
    /Web Token/,
  ),
  unclear(
    'a value that was redacted when the transcript was saved',
    [saved.begun(), saved.result({ text: 'posting to [redacted]' })],
    /redacted value is in text of a tool_result/,
  ),
  warns(
    'the redaction mark in a text of the tool',
    [secretBegun(), a.result({ text: 'token: [redacted]' })],
    /redacted value is in text/,
  ),
  skips('no callback', [secretBegun()]),
];

const noLeakA = someCall('a', { arguments: { path: '/home/ada/notes.txt' } });

const noLeakSays = (text: string) => [...noLeakA.begun(), ...noLeakA.result({ text })];

function noLeakLeak(title: string, text: string, says_: RegExp): Samples[number] {
  return { title, events: eventsOf(noLeakSays(`Error: ${text}`)), status: 'warn', says: says_ };
}

const noLeakSamples: Samples = [
  passes('an error with advice', [
    noLeakSays('Error: rate limited; retry at https://example.com/usr/share.'),
  ]),
  passes('a path from the arguments', [noLeakSays('Error: there is no /home/ada/notes.txt')]),
  noLeakLeak('a path of Windows', 'no such file C:\\Users\\ada\\data.db', /path of the host/),
  noLeakLeak('python', 'boom\nTraceback (most recent call last):\n  File "tool.py", line 3', /stack trace/),
  noLeakLeak('java', 'boom\n\tat com.example.Tool.handle(Tool.java:42)', /stack trace/),
  noLeakLeak('go', 'boom\n\ngoroutine 7 [running]:\nmain.main()', /stack trace/),
  noLeakLeak('rust', "boom: thread 'main' panicked at tool.rs:3:1", /stack trace/),
  skips('a path in a successful result', [noLeakSays('read /usr/share/x')]),
];

const result = (fields: object) => eventsOf(a.begun(), a.result(fields));

const shown = (...segments: object[]) => result({ display_as: segments });

const text = { type: 'text', content: 'edit_file src/main.rs' };

const line = (content: string) => ({ type: 'text', content });

const patch = '--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-a\n+b\n';

const diff = (fields: object = {}) => ({ type: 'diff', content: { path: 'a.txt', patch, ...fields } });

/** The patch of seed 000, whose header counts one line too many. */
const miscounted =
  '--- src/main.rs\n+++ src/main.rs\n@@ -1,3 +1,4 @@\n fn main() {\n+ println!("hello");\n }';

const image = { type: 'image', content: { data: 'AAAA', mediaType: 'image/png' } };

const picture = { type: 'image', data: 'AAAA', mediaType: 'image/png' };

const fallbackSamples: Samples = [
  { title: 'a text at the end', events: shown(diff(), text), status: 'pass' },
  { title: 'no text', events: shown(diff()), status: 'warn', says: /its last is "diff"/ },
  {
    title: 'a text of several lines',
    events: shown({ type: 'text', content: 'a\nb' }),
    status: 'warn',
    says: /several lines/,
  },
  {
    title: 'a text that hides a diff',
    events: shown(text, diff(), text),
    status: 'warn',
    says: /never shown/,
  },
  ...['Deployed i-0abc123', '  Deployed i-0abc123\n'].map((content): Samples[number] => ({
    title: `a short text that display_as only repeats: ${JSON.stringify(content)}`,
    events: result({ text: 'Deployed i-0abc123', display_as: [{ type: 'text', content }] }),
    status: 'warn',
    says: /^display_as only repeats the text, which is one short line$/,
  })),
  {
    title: 'the text of content, repeated',
    events: result({ content: [{ type: 'text', text: 'A dot' }], display_as: [line('A dot')] }),
    status: 'warn',
    says: /only repeats/,
  },
  {
    title: 'the first example of seed 000',
    events: result({
      text: 'Deployment completed successfully. Instance i-0abc123 is running.',
      display_as: [line('Deployed instance i-0abc123')],
    }),
    status: 'pass',
  },
  {
    title: 'the example of a text-only display in seed 000',
    events: result({
      text: 'Replaced text in src/main.rs',
      display_as: [line('edit_file src/main.rs — 1 insertion')],
    }),
    status: 'pass',
  },
  {
    title: 'a short text repeated beside a diff',
    events: result({ text: 'edited', display_as: [diff(), line('edited')] }),
    status: 'pass',
  },
  {
    title: 'a short text repeated beside a segment of an unknown type',
    events: result({ text: 'edited', display_as: [{ type: 'chart', content: 1 }, line('edited')] }),
    status: 'pass',
  },
  {
    title: 'an image in content, described in display_as',
    events: result({
      text: 'A dot',
      content: [{ type: 'text', text: 'A dot' }, picture],
      display_as: [line('A dot')],
    }),
    status: 'pass',
  },
  {
    title: 'a long line repeated',
    events: result({ text: 'x'.repeat(121), display_as: [line('x'.repeat(121))] }),
    status: 'pass',
  },
  { title: 'no display_as', events: result({}), status: 'not-applicable' },
];

const diffSamples: Samples = [
  { title: 'a unified diff', events: shown(diff(), text), status: 'pass' },
  {
    title: 'the example of seed 000',
    events: shown(diff({ patch: miscounted }), text),
    status: 'warn',
    says: /wrong line counts \(corrected\)/,
  },
  {
    title: 'an empty patch, as for a new empty file',
    events: shown(diff({ patch: '' }), text),
    status: 'pass',
    says: /^display_as\[0\] shows no changes/,
  },
  { title: 'only a text', events: shown(text), status: 'not-applicable' },
];

const imageSamples: Samples = [
  {
    title: 'a description, and a text after the image',
    events: result({
      content: [{ type: 'text', text: 'A red square.' }, picture],
      display_as: [image, text],
    }),
    status: 'pass',
  },
  {
    title: 'an empty description',
    events: result({ content: [{ type: 'text', text: ' ' }, picture] }),
    status: 'warn',
  },
  { title: 'no image', events: shown(text), status: 'not-applicable' },
];

export const CONTENTS: SampleSet = {
  'TOOL-GROUP': groupSamples,
  'TOOL-ID': idSamples,
  'TOOL-CALLID': callIdSamples,
  'TOOL-ISOLATE': isolateSamples,
  'TOOL-ERRPREFIX': errorPrefixSamples,
  'TOOL-SECRET': secretSamples,
  'TOOL-NOLEAK': noLeakSamples,
  'TOOL-FALLBACK': fallbackSamples,
  'TOOL-DIFF': diffSamples,
  'TOOL-IMAGE': imageSamples,
};
