import { eventsOf } from '../../../events/build.js';
import { discovery, someCall } from '../parts.js';
import { passes, type SampleSet, type Samples, skips, unclear, warns } from '../sample.js';

const a = someCall('a');

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
  'TOOL-ERRPREFIX': errorPrefixSamples,
  'TOOL-SECRET': secretSamples,
  'TOOL-NOLEAK': noLeakSamples,
  'TOOL-FALLBACK': fallbackSamples,
  'TOOL-DIFF': diffSamples,
  'TOOL-IMAGE': imageSamples,
};
