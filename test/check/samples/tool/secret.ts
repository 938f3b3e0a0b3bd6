import { eventsOf } from '../../../events/build.js';
import { someCall } from '../parts.js';
import { passes, type Samples, skips, unclear, warns } from '../sample.js';

const a = someCall('a');
const { callback_url: url } = a.invocation;
const password = 'correct-horse-battery-staple';
const begun = () => [...a.sent(a.invocation, { authorization: `Bearer ${password}` }), ...a.answered()];

function leak(story: string, fields: object, says: RegExp): Samples[number] {
  return { story, events: eventsOf(begun(), a.result(fields)), status: 'fail', says };
}

const saved = someCall('saved', { callback_url: 'http://127.0.0.1:4000/callback/[redacted]' });
const github = `ghp_${'a1B2'.repeat(9)}`;
const asked = someCall('asked', { arguments: { path: 'a', token: github } });

export const secretSamples: Samples = [
  passes('a result with long words', [
    begun(),
    a.result({ text: `sk-learn, Bearer of news, sha256 ${'0a'.repeat(32)}` }),
  ]),
  passes('a text from the arguments', [
    asked.sent(),
    asked.answered(),
    asked.result({ text: `saved ${github}` }),
  ]),
  leak('the callback URL', { text: `posting to ${url}` }, /^the callback URL is in text/),
  leak('the token of it', { text: url.split('/').at(-1) }, /callback URL's token/),
  leak(
    'the credential of the call',
    { text: 'ok', debug: { got: password } },
    /authorization is in debug\.got/,
  ),
  leak(
    'a GitHub token',
    { display_as: [{ type: 'text', content: github }] },
    /GitHub.*display_as\[0\]\.content/,
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
    [saved.sent(), saved.answered(), saved.result({ text: 'posting to [redacted]' })],
    /redacted value is in text of a tool_result/,
  ),
  warns(
    'the redaction mark in a text of the tool',
    [begun(), a.result({ text: 'token: [redacted]' })],
    /redacted value is in text/,
  ),
  skips('no callback', [begun()]),
];
