import { at, eventsOf, type Moment } from '../../../events/build.js';
import { discovery, notice, planned, someCall, TOOLSET } from '../parts.js';
import { fails, passes, type SampleSet, type Samples, skips, unclear, warns } from '../sample.js';

const a = someCall('a');

const begun = () => a.begun();

const asked = (fields: object = {}) => [...begun(), ...a.asks(fields)];

const choiceSamples: Samples = [
  passes('a result after the selection', [asked(), a.selected(), a.result()]),
  passes('the next question after the selection', [asked(), a.selected(), a.asks({ prompt: 'When?' })]),
  fails('no choices', [begun(), a.asks({ choices: [], default: 0 }, { status: 400 })], /choices/),
  fails(
    'an unreachable response_url',
    [asked(), a.selected({ status: null, code: 'ECONNREFUSED' })],
    /ECONNREFUSED/,
  ),
  fails(
    'only a result caused by closing the thread',
    [asked(), a.selected(), at(5_000, a.waited()), a.closed(), a.result()],
    /within 5s of the selection/,
  ),
  unclear('a selection at the end of the transcript', [asked(), a.selected()]),
  skips('an unanswered question', [asked()]),
  skips('a question that crossed a cancel, its selection and its result', [
    begun(),
    a.cancelled(),
    a.asks(),
    a.selected(),
    a.result(),
  ]),
];

const page = (auth_url: string, status = 200) => [...begun(), ...a.oauth({ auth_url }, { status })];

const oauthSamples: Samples = [
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

const subscribed = () => [...begun(), ...a.result({ text: 'Subscribed', subscription: true })];

const last = () => a.news({ text: 'the end', final: true });

const subscriptionSamples: Samples = [
  skips('events after a result that does not match its schema, which TOOL-POST covers', [
    begun(),
    a.result({ text: 7, subscription: true }, { status: 400 }),
    a.news(),
  ]),
  passes('events until the final one', [subscribed(), a.news(), last()]),
  passes(
    "no event after the final one, within a check's time limit",
    [subscribed(), a.news(), last(), at(1_100, a.waited(1_000))],
    /^nothing within 1s after the final event$/,
  ),
  passes(
    'a final event without an observation afterwards',
    [subscribed(), a.waited(1_000), last()],
    /^seen once$/,
  ),
  passes('the final event sent again', [subscribed(), last(), last()]),
  passes(
    'silence after a cancel',
    [at(10, subscribed()), at(20, a.news()), at(100, a.cancelled()), at(2_100, discovery())],
    /500ms to 2s after the cancel/,
  ),
  passes('an event that was sent before the cancel arrived', [
    at(10, subscribed()),
    at(100, a.cancelled()),
    at(200, a.news()),
  ]),
  passes(
    'one event long after a cancel, which a busy machine may have sent before',
    [at(10, subscribed()), at(100, a.cancelled()), at(1_100, a.news({}, { status: 404 }))],
    /^an event came 1s after the cancel was acknowledged, and may have been on its way/,
  ),
  passes(
    'an event that is sent again until it is accepted',
    [
      at(10, subscribed()),
      at(90, a.news({}, { status: 503 })),
      at(100, a.cancelled()),
      at(700, a.news({}, { status: 503 })),
      at(1_100, a.news()),
    ],
    /on its way/,
  ),
  fails(
    'the same accepted event repeatedly after a cancel',
    [at(10, subscribed()), at(100, a.cancelled()), at(700, a.news()), at(900, a.news())],
    /more than 500ms after the cancel/,
  ),
  fails(
    'an event before the result',
    [at(10, begun()), at(20, a.news({}, { status: 404 })), at(900, subscribed().slice(2))],
    /before the result/,
  ),
  fails(
    'a call that should start a subscription, and does not',
    [a.plannedFor(['TOOL-SUB']), begun(), a.result()],
    /should start a subscription/,
  ),
  unclear(
    'a call that should start a subscription, and ends in an error',
    [
      a.plannedFor(['TOOL-SUB']),
      begun(),
      a.result({ text: 'Error: no such channel. List the channels first.' }),
    ],
    /ended in an error/,
  ),
  warns('an event that arrived just before the result', [
    at(10, begun()),
    at(20, a.news({}, { status: 404 })),
    at(30, subscribed().slice(2)),
  ]),
  unclear('a planned probe without a subscription', [planned(['TOOL-SUB']), begun()]),
  skips(
    'a subscription without events that was not canceled',
    [subscribed()],
    /^a subscription was started, but no event came$/,
  ),
  unclear(
    'a subscription that was canceled too late to be tested',
    [planned(['TOOL-SUB']), at(10, subscribed()), at(100, a.cancelled())],
    /^a subscription was started, but no event came$/,
  ),
  skips('no subscription', [begun(), a.result()]),
];

/** Samples for all notices that must be answered 200. */
function noticeSamples(purpose: 'cancel' | 'close'): Samples {
  return [
    passes('200', [notice(purpose), notice(purpose)]),
    warns('404 for an unknown id', [notice(purpose), notice(purpose, { status: 404 })], /answered 404/),
    warns('204', [notice(purpose, { status: 204 })]),
    warns('no response', [notice(purpose, { status: null, code: 'TIMEOUT' })], /TIMEOUT/),
    warns(
      'no response within our time limit',
      [notice(purpose, { status: null, code: 'ETIMEDOUT' })],
      /did not answer within \d/,
    ),
    unclear('a refused connection', [
      notice(purpose, { status: null, phase: 'connect', code: 'ECONNREFUSED' }),
    ]),
    unclear('the end of the transcript', [notice(purpose).slice(0, 1)], /was not recorded$/),
    warns('the body OK', [notice(purpose, { body: 'OK' })], /answered 200 with a body/),
    fails(
      'a broken connection, and then a refused one',
      [
        notice(purpose, { status: null, code: 'ECONNRESET' }),
        discovery('', { status: null, phase: 'connect', code: 'ECONNREFUSED' }),
      ],
      /^the tool stopped responding after \/\w+ \(ECONNRESET\)$/,
    ),
    skips('no notice', []),
  ];
}

const cancelSamples: Samples = noticeSamples('cancel');

const closeSamples: Samples = [
  ...noticeSamples('close'),
  warns(
    'a body with a Content-Length',
    [notice('close', { headers: { 'content-length': '11' } })],
    /11 bytes/,
  ),
];

const [tool] = TOOLSET.tools;

const misnamed = { ...TOOLSET, tools: [{ ...tool, name: 'edit file' }] };

const moving = { ...TOOLSET, needsMigration: true };

const withoutDocument = (headers: Record<string, string>) =>
  eventsOf(discovery()).map(event => {
    if (event.kind !== 'response') return event;
    const { body: _, ...rest } = event;
    return { ...rest, headers };
  });

const move = { session_id: 'session_1', destination_url: 'https://elsewhere.example/' };

const unkept = (moments: Moment[]) => moments.map(each => ({ ...each, body: undefined }) as Moment);

const migration = (how = {}, body: object = move) => notice('migrate', how, { body });

const discoverSamples: Samples = [
  passes('a toolset', [discovery()]),
  passes('a toolset, and a refused connection at another time', [
    discovery('', { status: null, phase: 'connect', code: 'ECONNREFUSED' }),
    discovery(),
  ]),
  passes('a toolset at the origin, and none at the base URL', [discovery('', { status: 404 }), discovery()]),
  passes('a toolset that is valid except for its names', [discovery(misnamed)]),
  fails('404', [discovery('', { status: 404 })], /answered 404/),
  fails('invalid JSON', [discovery('<html>')], /JSON/),
  {
    title: '200 with an empty body',
    events: withoutDocument({}),
    status: 'fail',
    says: /200 without a document/,
  },
  {
    title: 'a document that was not recorded',
    events: withoutDocument({ 'content-length': '120' }),
    status: 'could-not-run',
    says: /not recorded/,
  },
  warns(
    'another content type',
    [discovery(TOOLSET, { headers: { 'content-type': 'text/html' } })],
    /text\/html/,
  ),
  unclear('401', [discovery('', { status: 401 })], /credentials/),
  unclear('a refused connection', [discovery('', { status: null })], /could not be reached \(/),
  unclear('the end of the transcript', [discovery('', { status: null }).slice(0, 1)], /was not recorded$/),
  skips('no request', []),
];

const namesSamples: Samples = [
  passes('valid names', [discovery()]),
  fails('a name with a space', [discovery(misnamed)], /tools\[0\]\.name/),
  skips('a toolset that is invalid for another reason', [discovery({ ...TOOLSET, endpoint: 7 })]),
];

const migrateSamples: Samples = [
  passes(
    'a rejected migration that cannot succeed',
    [discovery(moving), migration({ status: 502 }, {})],
    /502/,
  ),
  passes('404 for an unknown session', [
    discovery(moving),
    notice('migrate', { status: 404, body: 'no such session' }),
  ]),
  passes('200 to a migration that may have succeeded', [
    discovery(moving),
    planned(['TOOL-MIGRATE'], 'migrate'),
    migration(),
  ]),
  fails(
    '200 to a migration without a target',
    [discovery(moving), migration({}, { session_id: 'session_1' })],
    /an invalid request/,
  ),
  passes('200 to a migration that was not recorded', [discovery(moving), unkept(notice('migrate'))]),
  unclear('no response', [discovery(moving), notice('migrate', { status: null })]),
  skips('a toolset without migrations', [discovery(), notice('migrate', { status: 404 })]),
];

export const CONVERSATION: SampleSet = {
  'TOOL-CHOICE': choiceSamples,
  'TOOL-OAUTH': oauthSamples,
  'TOOL-SUB': subscriptionSamples,
  'TOOL-CANCEL': cancelSamples,
  'TOOL-CLOSE': closeSamples,
  'TOOL-DISCOVER': discoverSamples,
  'TOOL-NAMES': namesSamples,
  'TOOL-MIGRATE': migrateSamples,
};
