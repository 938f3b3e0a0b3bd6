import { at, eventsOf } from '../../../events/build.js';
import { someCall } from '../parts.js';
import type { Samples } from '../sample.js';

const a = someCall('a');
const begun = () => [...a.sent(), ...a.answered()];
const page = (auth_url: string, status = 200) => [...begun(), ...a.oauth({ auth_url }, { status })];

export const oauthSamples: Samples = [
  {
    story: 'a page, and a result in the end',
    events: eventsOf(
      page('https://auth.example/?response_type=code&client_id=1&state=2&code_challenge=3'),
      a.consented(),
      a.result(),
    ),
    status: 'pass',
  },
  {
    story: 'a page on this machine',
    events: eventsOf(page('http://127.0.0.1:9/consent'), a.result()),
    status: 'pass',
    says: /http, fine on loopback/,
  },
  {
    story: 'a page in the open',
    events: eventsOf(page('http://auth.example/', 400)),
    status: 'fail',
    says: /auth_url/,
  },
  {
    story: 'a token in the address of the page',
    events: eventsOf(page('https://auth.example/?access_token=abc'), a.result()),
    status: 'fail',
    says: /access_token/,
  },
  {
    story: 'a code in its fragment',
    events: eventsOf(page('https://auth.example/#code=abc'), a.result()),
    status: 'fail',
  },
  {
    story: 'a token in the result',
    events: eventsOf(page('https://auth.example/'), a.result({ text: '{"access_token":"abcdefgh"}' })),
    status: 'fail',
    says: /is in text/,
  },
  {
    story: 'no result but what the end of the thread brings about',
    events: eventsOf(page('https://auth.example/'), at(5_000, a.waited()), a.closed(), a.result()),
    status: 'could-not-run',
    says: /consent is missing/,
  },
  {
    story: 'no result in time',
    events: eventsOf(page('https://auth.example/'), a.consented(), at(5_000, a.waited())),
    status: 'could-not-run',
    says: /within 5s/,
  },
  {
    story: 'a consent at the end of the transcript',
    events: eventsOf(page('https://auth.example/'), a.consented()),
    status: 'could-not-run',
  },
  {
    story: 'nobody has consented',
    events: eventsOf(page('https://auth.example/')),
    status: 'not-applicable',
  },
];
