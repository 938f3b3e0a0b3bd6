import { at } from '../../../events/build.js';
import { someCall } from '../parts.js';
import { fails, passes, type Samples, skips, unclear } from '../sample.js';

const a = someCall('a');
const begun = () => [...a.sent(), ...a.answered()];
const page = (auth_url: string, status = 200) => [...begun(), ...a.oauth({ auth_url }, { status })];

export const oauthSamples: Samples = [
  passes('a page, and then a result', [
    page('https://auth.example/?response_type=code&client_id=1&state=2&code_challenge=3'),
    a.consented(),
    a.result(),
  ]),
  passes(
    'a page on this machine',
    [page('http://127.0.0.1:9/consent'), a.result()],
    /http, fine on loopback/,
  ),
  fails('a page without TLS', [page('http://auth.example/', 400)], /auth_url/),
  fails(
    'a token in the URL of the page',
    [page('https://auth.example/?access_token=abc'), a.result()],
    /access_token/,
  ),
  fails('a code in the fragment', [page('https://auth.example/#code=abc'), a.result()]),
  fails(
    'a token in the result',
    [page('https://auth.example/'), a.result({ text: '{"access_token":"abcdefgh"}' })],
    /is in text/,
  ),
  unclear(
    'only a result caused by closing the thread',
    [page('https://auth.example/'), at(5_000, a.waited()), a.closed(), a.result()],
    /consent is missing/,
  ),
  unclear(
    'no result in time',
    [page('https://auth.example/'), a.consented(), at(5_000, a.waited())],
    /within 5s/,
  ),
  unclear('a consent at the end of the transcript', [page('https://auth.example/'), a.consented()]),
  skips('no consent', [page('https://auth.example/')]),
];
