import { Content } from '../../../../src/events/content.js';
import type { RequirementId } from '../../../../src/protocol/requirements.js';
import {
  acknowledged,
  answered,
  arrives,
  at,
  bytesArrive,
  CHOICE,
  call,
  canceled,
  closed,
  ENDPOINT,
  EVENT,
  gaveUp,
  INVOCATION,
  KEY,
  type Moment,
  OAUTH,
  resultArrives,
  THREAD,
  timedOut,
  untrackedRequest,
  VIEW,
} from '../../../events/build.js';
import { notice } from '../parts.js';
import { fails, passes, type Samples, skips, unclear, warns } from '../sample.js';

const BASE = 'http://127.0.0.1:3001';
const EDIT_FILE = {
  name: 'edit_file',
  description: 'edits',
  inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
};

/** The discovery of a toolset. */
function discovered(document: object, base = BASE): Moment[] {
  const leg = `discovery-${base}`;
  const about = { from: 'runtime', to: 'tool', method: 'GET', headers: {}, attempt: 1 } as const;
  return [
    { kind: 'request', leg, purpose: 'discovery', url: `${base}/.well-known/rap-toolset`, ...about },
    { kind: 'response', leg, status: 200, headers: {}, body: Content.ofJson(document) },
  ];
}

const toolset = (...tools: object[]) => ({ name: 'demo', endpoint: ENDPOINT, tools });
const OFFERED = discovered(toolset(EDIT_FILE));
const answer = () => [...acknowledged(), ...resultArrives()];
const invoked = (fields: object) => call({ invocation: { ...INVOCATION, ...fields } });

/** A call in addition to the usual one. */
function another(fields: object = {}): Moment[] {
  return invoked(fields).map(moment => ({ ...moment, leg: 'another', calls: ['another'] }) as Moment);
}

const withHeaders = (headers: Record<string, string>): Moment[] =>
  call().map(moment => ({ ...moment, headers }) as Moment);

/** @param left the rest of the body */
function bodiless(left: object): Moment[] {
  return call().map(moment => {
    if (moment.kind !== 'request') return moment;
    const { body: _, ...rest } = moment;
    return { ...rest, ...left };
  });
}

/** A selection, sent to the URL of the question or to another one. */
function selects(body: object, url = CHOICE.response_url): Moment[] {
  const about = { from: 'runtime', to: 'tool', method: 'POST', headers: {}, attempt: 1 } as const;
  const concerns = { calls: [KEY], thread: THREAD };
  return [
    {
      kind: 'request',
      leg: 'selection',
      purpose: 'choice',
      url,
      ...about,
      ...concerns,
      body: Content.ofJson(body),
    },
    { kind: 'response', leg: 'selection', status: 200, headers: {}, ...concerns },
  ];
}

const FIELDS = { close: { thread_id: 'g' }, cancel: { thread_id: 'g', tool_call_id: 'c' } };
const notified = (purpose: 'close' | 'cancel', status: number | null = 200): Moment[] =>
  notice(purpose, { status }, { body: FIELDS[purpose] });

const asked = [...call(), ...acknowledged(), ...arrives(CHOICE)];
const subscribed = [...call(), ...acknowledged(), ...resultArrives({ subscription: true })];

/** Samples of the runtime's rules. */
export const RUNTIME_SAMPLES: Readonly<Partial<Record<RequirementId, Samples>>> = {
  'RT-OP': [
    passes('an operation of the toolset', [OFFERED, call(), answer()]),
    fails(
      'an unknown operation',
      [OFFERED, invoked({ operation: 'rm' }), answer()],
      /"rm" is not in a loaded toolset/,
    ),
    unclear(
      'an unknown operation in an incomplete recording',
      [OFFERED, invoked({ operation: 'rm' }), answer()],
      /recording is incomplete/,
      { isLossy: true },
    ),
    skips('no toolset known', [call(), answer()]),
    skips('a toolset that was loaded later', [call(), answer(), OFFERED]),
  ],
  'RT-ARGS': [
    passes('valid arguments', [OFFERED, call(), answer()]),
    warns(
      'arguments that violate the schema',
      [OFFERED, invoked({ arguments: {} }), answer()],
      /inputSchema of edit_file/,
    ),
    skips('a schema that cannot be used', [
      discovered(toolset({ ...EDIT_FILE, inputSchema: { $ref: 'https://elsewhere.example/s' } })),
      call(),
      answer(),
    ]),
  ],
  'RT-ID': [
    passes('two calls with two ids', [call(), answer(), another({ id: 'other' })]),
    fails(
      'one id for two calls',
      [call(), answer(), another({ operation: 'read_file' })],
      /used for two calls/,
    ),
    passes('one id in two threads', [call(), another({ group_id: 'other' })]),
    passes('the same call sent again', [call(), answered(503), call({ attempt: 2 })]),
    fails('another call sent as a retry', [
      call(),
      answered(503),
      call({ attempt: 2, invocation: { ...INVOCATION, arguments: {} } }),
    ]),
  ],
  'RT-FIELDS': [
    passes('all required fields', [call(), answer()]),
    fails('no body', [bodiless({})]),
    unclear('a body that was not kept', [bodiless({ body: undefined })], /not recorded/),
    fails('no group_id', [invoked({ group_id: undefined })]),
    fails(
      'a callback_url with another scheme',
      [invoked({ callback_url: 'ftp://127.0.0.1/' })],
      /neither http nor https/,
    ),
    fails('another media type', [withHeaders({ 'content-type': 'text/plain' })]),
    fails(
      'another media type, refused before the body was read',
      [bodiless({ headers: { 'content-length': '9', 'content-type': 'text/plain' } })],
      /Content-Type is not application\/json/,
    ),
    passes('a media type with a charset', [
      withHeaders({ 'content-type': 'application/json; charset=utf-8' }),
    ]),
    fails(
      'an unreachable callback_url',
      [
        call(),
        acknowledged(),
        [
          ...resultArrives().slice(0, 1),
          { kind: 'broken', leg: 'back-1', phase: 'connect', code: 'ECONNREFUSED', calls: [KEY] },
        ],
      ],
      /no callback could connect/,
      { observer: 'tool' },
    ),
  ],
  'RT-ANCESTORS': [
    warns('an empty list', [invoked({ thread_ancestors: [] })], /a root thread leaves it out/),
    warns('the thread itself', [invoked({ thread_ancestors: [THREAD] })], /names the thread itself/),
    skips('ancestors whose order nothing shows', [invoked({ thread_ancestors: ['root', 'parent'] })]),
    skips('a root thread', [call()]),
  ],
  'RT-NON200': [
    passes('given up after a 201', [call(), answered(201), gaveUp()]),
    warns('waited on after a 201', [call(), answered(201), at(50, resultArrives())], /continued to wait/),
    unclear('no final event', [call(), answered(201)]),
    skips('recorded by a tool', [call(), answered(201)], undefined, { observer: 'tool' }),
  ],
  'RT-RETRY': [
    passes(
      'retried after a 503',
      [call(), answered(503), at(300, call({ attempt: 2 })), answered(200, { attempt: 2 })],
      /^1 retry, after/,
    ),
    warns('given up after one attempt', [call(), answered(503), gaveUp()]),
    unclear(
      'given up, but a retry may be missing',
      [call(), answered(503), gaveUp()],
      /recording is incomplete/,
      { isLossy: true },
    ),
    warns(
      'no later events',
      [call(), answered(503), at(6_000, untrackedRequest('close'))],
      /^no retry within 5/,
    ),
    warns(
      'three attempts without a pause',
      [call(), answered(503), call({ attempt: 2 }), answered(503, { attempt: 2 }), call({ attempt: 3 })],
      /the pauses do not grow/,
    ),
  ],
  'RT-NORETRY': [
    passes('no retry after a 404', [call(), answered(404), gaveUp()]),
    fails('retried after a 404', [call(), answered(404), call({ attempt: 2 })], /sent again after a 404/),
  ],
  'RT-VALIDATE': [
    passes('a 400 for an invalid callback', [
      call(),
      acknowledged(),
      arrives({ type: 'tool_result' }, { status: 400 }),
    ]),
    fails('a 200 for invalid JSON', [call(), acknowledged(), bytesArrive(Buffer.from('{'), { status: 200 })]),
  ],
  'RT-MATCH': [
    passes('the id of another call is rejected', [
      call(),
      acknowledged(),
      resultArrives({ id: 'forged' }, { status: 404 }),
    ]),
    fails('the id of another call is accepted as the result', [
      call(),
      acknowledged(),
      resultArrives({ id: 'forged' }, { status: 200 }),
      resultArrives({}, { leg: 'back-2', status: 404 }),
    ]),
    warns('the id of another call is answered 200', [
      call(),
      acknowledged(),
      resultArrives({ id: 'forged' }, { status: 200 }),
    ]),
  ],
  'RT-DUP': [
    passes('a 200 for both results', [
      call(),
      acknowledged(),
      resultArrives(),
      resultArrives({}, { leg: 'back-2' }),
    ]),
    skips('a first result that was not accepted', [
      call(),
      acknowledged(),
      ...['1', '2'].map(leg => resultArrives({}, { leg, status: 500 })),
      resultArrives({}, { leg: '3' }),
    ]),
    warns('a 409 for the second result', [
      call(),
      acknowledged(),
      resultArrives(),
      resultArrives({}, { leg: 'back-2', status: 409 }),
    ]),
  ],
  'RT-ACK': [
    passes('200 for a result and its repetition', [
      [call(), acknowledged(), resultArrives()].flat(),
      resultArrives({}, { leg: 'back-2' }),
    ]),
    passes('404 for another call, 400 for an invalid callback, and 200 for the result', [
      [call(), acknowledged()].flat(),
      resultArrives({ id: 'forged' }, { leg: 'forged', status: 404 }),
      resultArrives({ text: 1 }, { leg: 'invalid', status: 400 }),
      resultArrives(),
    ]),
    warns(
      '202 for a result',
      [call(), acknowledged(), resultArrives({}, { status: 202 })],
      /a callback was answered 202/,
    ),
    warns('204 for a question', [call(), acknowledged(), arrives(CHOICE, { status: 204 })]),
    warns('a redirect', [call(), acknowledged(), resultArrives({}, { status: 307 })]),
    warns(
      '404 for a result after a cancel',
      [call(), acknowledged(), canceled(), resultArrives({}, { status: 404 })],
      /a late callback was answered 404/,
    ),
    warns(
      '202 for a repeated result',
      [call(), acknowledged(), resultArrives(), resultArrives({}, { leg: 'back-2', status: 202 })],
      /a repeated callback was answered 202/,
    ),
    skips('statuses after which the tool may try again', [
      [call(), acknowledged()].flat(),
      ...[413, 429, 503].map(status => resultArrives({}, { leg: `back-${status}`, status })),
    ]),
    skips('409 for a second, different result of a refused one', [
      [call(), acknowledged()].flat(),
      resultArrives({}, { leg: 'lost', status: 503 }),
      resultArrives({ text: 'another' }, { leg: 'other', status: 409 }),
    ]),
    skips('404 after the thread was closed', [
      [call(), acknowledged(), closed()].flat(),
      resultArrives({}, { status: 404 }),
    ]),
    skips('404 for the result of a call that was not accepted', [
      [call(), answered(404)].flat(),
      resultArrives({}, { status: 404 }),
    ]),
    skips('404 for an event, which RT-SUB judges', [
      [call(), acknowledged()].flat(),
      resultArrives({ subscription: true }, { status: 503 }),
      arrives(EVENT, { leg: 'event', status: 404 }),
    ]),
  ],
  'RT-PENDING': [
    passes('a question, then the result', [asked, resultArrives({}, { leg: 'b' })]),
    fails('retried after the question', [asked, call({ attempt: 2 })]),
  ],
  'RT-OAUTH': [
    passes('a URL without a query', [call(), acknowledged(), arrives(OAUTH)]),
    fails('a URL with its state', [
      call(),
      acknowledged(),
      arrives({ ...OAUTH, auth_url: `${OAUTH.auth_url}?state=s` }),
    ]),
    skips('recorded by a tool', [call(), acknowledged(), arrives(OAUTH)], undefined, { observer: 'tool' }),
  ],
  'RT-CHOICE': [
    passes('one of the choices', [asked, selects({ id: KEY, selected: 1 })]),
    passes(
      'one of the choices, with the path that the tool sees',
      [asked, selects({ id: KEY, selected: 1 }, '/choices/1')],
      undefined,
      { observer: 'tool' },
    ),
    fails('none of the choices', [asked, selects({ id: KEY, selected: 2 })], /not one of the choices/),
    fails('no selected index', [asked, selects({ id: KEY })]),
    fails('sent to another URL', [asked, selects({ id: KEY, selected: 1 }, 'http://127.0.0.1:3001/invoke')]),
    fails('no answer until the end', [asked, timedOut()]),
    unclear('an answer that may be missing', [asked, timedOut()], /recording is incomplete/, {
      isLossy: true,
    }),
    unclear(
      'an answer to a question that may be missing',
      [asked, selects({ id: KEY, selected: 1 }, 'http://127.0.0.1:3001/choices/2')],
      /recording is incomplete/,
      { isLossy: true },
    ),
    unclear('an end before the answer', [asked]),
  ],
  'RT-SUB': [
    passes('an event of an open subscription', [subscribed, arrives(EVENT, { leg: 'e-1' })]),
    fails('a refused event of an open subscription', [
      subscribed,
      arrives(EVENT, { leg: 'e-1', status: 404 }),
    ]),
    passes('a refused event after the final one', [
      subscribed,
      arrives({ ...EVENT, final: true }, { leg: 'e-1' }),
      arrives({ ...EVENT, text: 'late' }, { leg: 'e-2', status: 404 }),
    ]),
  ],
  'RT-VIEW': [
    passes('a view', [call(), acknowledged(), arrives(VIEW)]),
    fails('a refused view of an unknown type', [
      call(),
      acknowledged(),
      arrives({ ...VIEW, view_type: 'hologram' }, { status: 400 }),
    ]),
  ],
  'RT-NOTIFY': [
    passes('a notice that fails once', [call(), notified('close', 500)]),
    fails(
      'a failed notice that is retried',
      [call(), notified('cancel', 500), notified('cancel')],
      /sent again/,
    ),
    passes('an accepted notice that is sent again', [call(), notified('cancel'), notified('cancel')]),
    fails(
      'a cancel without the id of the call',
      [call(), notice('cancel', {}, { body: { thread_id: 'g' } })],
      /fields of a cancel_tool_call notice are wrong: \$\.tool_call_id: is required/,
    ),
    fails('a close without a body', [call(), notice('close')], /fields of a close_thread notice are wrong/),
  ],
  'RT-TOOLSET': [
    passes('an invalid toolset without a call', [discovered(toolset({ ...EDIT_FILE, name: 'no good' }))]),
    fails(
      'a call of an invalid toolset',
      [discovered(toolset(EDIT_FILE, { ...EDIT_FILE, name: 'no good' })), call(), answer()],
      /invalid toolset/,
    ),
    fails(
      'a call of a name that two tools have',
      [OFFERED, discovered(toolset(EDIT_FILE), 'http://127.0.0.1:3002'), call(), answer()],
      /two toolsets/,
    ),
    skips('a valid toolset', [OFFERED, call(), answer()]),
  ],
};
