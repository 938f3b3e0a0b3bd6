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

/** A toolset that is asked for, and the document that comes. */
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

/** A call of its own beside the usual one. */
function another(fields: object = {}): Moment[] {
  return invoked(fields).map(moment => ({ ...moment, leg: 'another', calls: ['another'] }) as Moment);
}

const withHeaders = (headers: Record<string, string>): Moment[] =>
  call().map(moment => ({ ...moment, headers }) as Moment);

/** @param left what is there of the body */
function bodiless(left: object): Moment[] {
  return call().map(moment => {
    if (moment.kind !== 'request') return moment;
    const { body: _, ...rest } = moment;
    return { ...rest, ...left };
  });
}

/** A selection, at the address of the question or elsewhere. */
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
const told = (purpose: 'close' | 'cancel', status: number | null = 200): Moment[] =>
  notice(purpose, { status }, { body: FIELDS[purpose] });

const asked = [...call(), ...acknowledged(), ...arrives(CHOICE)];
const subscribed = [...call(), ...acknowledged(), ...resultArrives({ subscription: true })];

/** Of the runtime's rules. */
export const RUNTIME_SAMPLES: Readonly<Partial<Record<RequirementId, Samples>>> = {
  'RT-OP': [
    passes('an operation of the toolset', [OFFERED, call(), answer()]),
    fails(
      'an operation of none',
      [OFFERED, invoked({ operation: 'rm' }), answer()],
      /"rm" is not in a loaded toolset/,
    ),
    unclear(
      'an operation of none that is left',
      [OFFERED, invoked({ operation: 'rm' }), answer()],
      /recording is incomplete/,
      { isLossy: true },
    ),
    skips('no toolset known', [call(), answer()]),
    skips('a toolset that came later', [call(), answer(), OFFERED]),
  ],
  'RT-ARGS': [
    passes('valid arguments', [OFFERED, call(), answer()]),
    warns(
      'arguments against the schema',
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
    passes('two calls of two ids', [call(), answer(), another({ id: 'other' })]),
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
    passes('all that is required', [call(), answer()]),
    fails('no body', [bodiless({})]),
    unclear('a body that was not kept', [bodiless({ body: undefined })], /not recorded/),
    fails('no group_id', [invoked({ group_id: undefined })]),
    fails(
      'a callback_url of another kind',
      [invoked({ callback_url: 'ftp://127.0.0.1/' })],
      /neither http nor https/,
    ),
    fails('another media type', [withHeaders({ 'content-type': 'text/plain' })]),
    passes('a media type with a charset', [
      withHeaders({ 'content-type': 'application/json; charset=utf-8' }),
    ]),
    warns('no ancestors', [invoked({ thread_ancestors: [] })], /leaves it out/),
    fails('itself as an ancestor', [invoked({ thread_ancestors: [THREAD] })]),
    fails(
      'no one at the callback_url',
      [
        call(),
        acknowledged(),
        [
          ...resultArrives().slice(0, 1),
          { kind: 'broken', leg: 'back-1', phase: 'connect', code: 'ECONNREFUSED', calls: [KEY] },
        ],
      ],
      /nothing listened/,
      { observer: 'tool' },
    ),
  ],
  'RT-NON200': [
    passes('given up after a 201', [call(), answered(201), gaveUp()]),
    warns('waited on after a 201', [call(), answered(201), at(50, resultArrives())], /continued to wait/),
    unclear('an end without a word', [call(), answered(201)]),
    skips('seen by a tool', [call(), answered(201)], undefined, { observer: 'tool' }),
  ],
  'RT-RETRY': [
    passes(
      'sent again after a 503',
      [call(), answered(503), at(300, call({ attempt: 2 })), answered(200, { attempt: 2 })],
      /retried after/,
    ),
    warns('given up at once', [call(), answered(503), gaveUp()]),
    unclear(
      'given up, and a retry may have been lost',
      [call(), answered(503), gaveUp()],
      /recording is incomplete/,
      { isLossy: true },
    ),
    warns(
      'nothing more seen',
      [call(), answered(503), at(6_000, untrackedRequest('close'))],
      /^no retry within 5/,
    ),
    warns(
      'three without a pause',
      [call(), answered(503), call({ attempt: 2 }), answered(503, { attempt: 2 }), call({ attempt: 3 })],
      /without a pause/,
    ),
  ],
  'RT-NORETRY': [
    passes('left alone after a 404', [call(), answered(404), gaveUp()]),
    fails('sent again after a 404', [call(), answered(404), call({ attempt: 2 })], /sent again after a 404/),
  ],
  'RT-VALIDATE': [
    passes('a 400 for what is not a callback', [
      call(),
      acknowledged(),
      arrives({ type: 'tool_result' }, { status: 400 }),
    ]),
    fails('a 200 for what is not JSON', [
      call(),
      acknowledged(),
      bytesArrive(Buffer.from('{'), { status: 200 }),
    ]),
  ],
  'RT-MATCH': [
    passes("another's id turned away", [
      call(),
      acknowledged(),
      resultArrives({ id: 'forged' }, { status: 404 }),
    ]),
    fails("another's id taken for the call's", [
      call(),
      acknowledged(),
      resultArrives({ id: 'forged' }, { status: 200 }),
      resultArrives({}, { leg: 'back-2', status: 404 }),
    ]),
    warns("another's id answered 200", [
      call(),
      acknowledged(),
      resultArrives({ id: 'forged' }, { status: 200 }),
    ]),
  ],
  'RT-DUP': [
    passes('a 200 for both', [call(), acknowledged(), resultArrives(), resultArrives({}, { leg: 'back-2' })]),
    skips('one that was not taken at first', [
      call(),
      acknowledged(),
      ...['1', '2'].map(leg => resultArrives({}, { leg, status: 500 })),
      resultArrives({}, { leg: '3' }),
    ]),
    warns('a 409 for the second', [
      call(),
      acknowledged(),
      resultArrives(),
      resultArrives({}, { leg: 'back-2', status: 409 }),
    ]),
  ],
  'RT-PENDING': [
    passes('a question, then the result', [asked, resultArrives({}, { leg: 'b' })]),
    fails('sent again after the question', [asked, call({ attempt: 2 })]),
  ],
  'RT-OAUTH': [
    passes('an address without a query', [call(), acknowledged(), arrives(OAUTH)]),
    fails('an address with its state', [
      call(),
      acknowledged(),
      arrives({ ...OAUTH, auth_url: `${OAUTH.auth_url}?state=s` }),
    ]),
    skips('seen by a tool', [call(), acknowledged(), arrives(OAUTH)], undefined, { observer: 'tool' }),
  ],
  'RT-CHOICE': [
    passes('one of the choices', [asked, selects({ id: KEY, selected: 1 })]),
    passes(
      'one of the choices, as the tool sees its path',
      [asked, selects({ id: KEY, selected: 1 }, '/choices/1')],
      undefined,
      { observer: 'tool' },
    ),
    fails('none of the choices', [asked, selects({ id: KEY, selected: 2 })], /not one of the choices/),
    fails('no selection in it', [asked, selects({ id: KEY })]),
    fails('sent elsewhere', [asked, selects({ id: KEY, selected: 1 }, 'http://127.0.0.1:3001/invoke')]),
    fails('no answer until the end', [asked, timedOut()]),
    unclear('no answer that is left', [asked, timedOut()], /recording is incomplete/, { isLossy: true }),
    unclear(
      'sent to what may be a question that was lost',
      [asked, selects({ id: KEY, selected: 1 }, 'http://127.0.0.1:3001/choices/2')],
      /recording is incomplete/,
      { isLossy: true },
    ),
    unclear('an end before the answer', [asked]),
  ],
  'RT-SUB': [
    passes('an event of an open subscription', [subscribed, arrives(EVENT, { leg: 'e-1' })]),
    fails('an event of an open subscription refused', [
      subscribed,
      arrives(EVENT, { leg: 'e-1', status: 404 }),
    ]),
    passes('an event after the last one refused', [
      subscribed,
      arrives({ ...EVENT, final: true }, { leg: 'e-1' }),
      arrives({ ...EVENT, text: 'late' }, { leg: 'e-2', status: 404 }),
    ]),
  ],
  'RT-VIEW': [
    passes('a view', [call(), acknowledged(), arrives(VIEW)]),
    fails('a view of an unknown type refused', [
      call(),
      acknowledged(),
      arrives({ ...VIEW, view_type: 'hologram' }, { status: 400 }),
    ]),
  ],
  'RT-NOTIFY': [
    passes('a notice that fails', [call(), told('close', 500)]),
    fails('a notice that fails and comes again', [call(), told('cancel', 500), told('cancel')], /sent again/),
    passes('a notice that arrived and comes again', [call(), told('cancel'), told('cancel')]),
    fails(
      'a cancel without the id of the call',
      [call(), notice('cancel', {}, { body: { thread_id: 'g' } })],
      /fields of a cancel_tool_call notice are wrong: \$\.tool_call_id: is required/,
    ),
    fails('a close without a body', [call(), notice('close')], /fields of a close_thread notice are wrong/),
  ],
  'RT-TOOLSET': [
    passes('an invalid toolset, and no call', [discovered(toolset({ ...EDIT_FILE, name: 'no good' }))]),
    fails(
      'a call of an invalid toolset',
      [discovered(toolset(EDIT_FILE, { ...EDIT_FILE, name: 'no good' })), call(), answer()],
      /invalid toolset/,
    ),
    fails(
      'a call of a name that two define',
      [OFFERED, discovered(toolset(EDIT_FILE), 'http://127.0.0.1:3002'), call(), answer()],
      /two toolsets/,
    ),
    skips('a valid toolset', [OFFERED, call(), answer()]),
  ],
};
