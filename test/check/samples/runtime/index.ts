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
  eventsOf,
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
import type { Samples } from '../sample.js';

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
    { story: 'an operation of the toolset', events: eventsOf(OFFERED, call(), answer()), status: 'pass' },
    {
      story: 'an operation of none',
      events: eventsOf(OFFERED, invoked({ operation: 'rm' }), answer()),
      status: 'fail',
      says: /"rm" is not in a loaded toolset/,
    },
    {
      story: 'an operation of none that is left',
      events: eventsOf(OFFERED, invoked({ operation: 'rm' }), answer()),
      isLossy: true,
      status: 'could-not-run',
      says: /recording is incomplete/,
    },
    { story: 'no toolset known', events: eventsOf(call(), answer()), status: 'not-applicable' },
    {
      story: 'a toolset that came later',
      events: eventsOf(call(), answer(), OFFERED),
      status: 'not-applicable',
    },
  ],
  'RT-ARGS': [
    { story: 'valid arguments', events: eventsOf(OFFERED, call(), answer()), status: 'pass' },
    {
      story: 'arguments against the schema',
      events: eventsOf(OFFERED, invoked({ arguments: {} }), answer()),
      status: 'warn',
      says: /inputSchema of edit_file/,
    },
    {
      story: 'a schema that cannot be used',
      events: eventsOf(
        discovered(toolset({ ...EDIT_FILE, inputSchema: { $ref: 'https://elsewhere.example/s' } })),
        call(),
        answer(),
      ),
      status: 'not-applicable',
    },
  ],
  'RT-ID': [
    {
      story: 'two calls of two ids',
      events: eventsOf(call(), answer(), another({ id: 'other' })),
      status: 'pass',
    },
    {
      story: 'one id for two calls',
      events: eventsOf(call(), answer(), another({ operation: 'read_file' })),
      status: 'fail',
      says: /used for two calls/,
    },
    {
      story: 'one id in two threads',
      events: eventsOf(call(), another({ group_id: 'other' })),
      status: 'pass',
    },
    {
      story: 'the same call sent again',
      events: eventsOf(call(), answered(503), call({ attempt: 2 })),
      status: 'pass',
    },
    {
      story: 'another call sent as a retry',
      events: eventsOf(
        call(),
        answered(503),
        call({ attempt: 2, invocation: { ...INVOCATION, arguments: {} } }),
      ),
      status: 'fail',
    },
  ],
  'RT-FIELDS': [
    { story: 'all that is required', events: eventsOf(call(), answer()), status: 'pass' },
    { story: 'no body', events: eventsOf(bodiless({})), status: 'fail' },
    {
      story: 'a body that was not kept',
      events: eventsOf(bodiless({ body: undefined })),
      status: 'could-not-run',
      says: /not recorded/,
    },
    { story: 'no group_id', events: eventsOf(invoked({ group_id: undefined })), status: 'fail' },
    {
      story: 'a callback_url of another kind',
      events: eventsOf(invoked({ callback_url: 'ftp://127.0.0.1/' })),
      status: 'fail',
      says: /neither http nor https/,
    },
    {
      story: 'another media type',
      events: eventsOf(withHeaders({ 'content-type': 'text/plain' })),
      status: 'fail',
    },
    {
      story: 'a media type with a charset',
      events: eventsOf(withHeaders({ 'content-type': 'application/json; charset=utf-8' })),
      status: 'pass',
    },
    {
      story: 'no ancestors',
      events: eventsOf(invoked({ thread_ancestors: [] })),
      status: 'warn',
      says: /leaves it out/,
    },
    {
      story: 'itself as an ancestor',
      events: eventsOf(invoked({ thread_ancestors: [THREAD] })),
      status: 'fail',
    },
    {
      story: 'nobody at the callback_url',
      events: eventsOf(call(), acknowledged(), [
        ...resultArrives().slice(0, 1),
        { kind: 'broken', leg: 'back-1', phase: 'connect', code: 'ECONNREFUSED', calls: [KEY] },
      ]),
      observer: 'tool',
      status: 'fail',
      says: /nothing listened/,
    },
  ],
  'RT-NON200': [
    { story: 'given up after a 201', events: eventsOf(call(), answered(201), gaveUp()), status: 'pass' },
    {
      story: 'waited on after a 201',
      events: eventsOf(call(), answered(201), at(50, resultArrives())),
      status: 'warn',
      says: /continued to wait/,
    },
    { story: 'an end without a word', events: eventsOf(call(), answered(201)), status: 'could-not-run' },
    {
      story: 'seen by a tool',
      events: eventsOf(call(), answered(201)),
      observer: 'tool',
      status: 'not-applicable',
    },
  ],
  'RT-RETRY': [
    {
      story: 'sent again after a 503',
      events: eventsOf(call(), answered(503), at(300, call({ attempt: 2 })), answered(200, { attempt: 2 })),
      status: 'pass',
      says: /retried after/,
    },
    { story: 'given up at once', events: eventsOf(call(), answered(503), gaveUp()), status: 'warn' },
    {
      story: 'given up, and a retry may have been lost',
      events: eventsOf(call(), answered(503), gaveUp()),
      isLossy: true,
      status: 'could-not-run',
      says: /recording is incomplete/,
    },
    {
      story: 'nothing more seen',
      events: eventsOf(call(), answered(503), at(6_000, untrackedRequest('close'))),
      status: 'warn',
      says: /^no retry within 5/,
    },
    {
      story: 'three without a pause',
      events: eventsOf(
        call(),
        answered(503),
        call({ attempt: 2 }),
        answered(503, { attempt: 2 }),
        call({ attempt: 3 }),
      ),
      status: 'warn',
      says: /without a pause/,
    },
  ],
  'RT-NORETRY': [
    { story: 'left alone after a 404', events: eventsOf(call(), answered(404), gaveUp()), status: 'pass' },
    {
      story: 'sent again after a 404',
      events: eventsOf(call(), answered(404), call({ attempt: 2 })),
      status: 'fail',
      says: /sent again after a 404/,
    },
  ],
  'RT-VALIDATE': [
    {
      story: 'a 400 for what is no callback',
      events: eventsOf(call(), acknowledged(), arrives({ type: 'tool_result' }, { status: 400 })),
      status: 'pass',
    },
    {
      story: 'a 200 for what is no JSON',
      events: eventsOf(call(), acknowledged(), bytesArrive(Buffer.from('{'), { status: 200 })),
      status: 'fail',
    },
  ],
  'RT-MATCH': [
    {
      story: "another's id turned away",
      events: eventsOf(call(), acknowledged(), resultArrives({ id: 'forged' }, { status: 404 })),
      status: 'pass',
    },
    {
      story: "another's id taken for the call's",
      events: eventsOf(
        call(),
        acknowledged(),
        resultArrives({ id: 'forged' }, { status: 200 }),
        resultArrives({}, { leg: 'back-2', status: 404 }),
      ),
      status: 'fail',
    },
    {
      story: "another's id answered 200",
      events: eventsOf(call(), acknowledged(), resultArrives({ id: 'forged' }, { status: 200 })),
      status: 'warn',
    },
  ],
  'RT-DUP': [
    {
      story: 'a 200 for both',
      events: eventsOf(call(), acknowledged(), resultArrives(), resultArrives({}, { leg: 'back-2' })),
      status: 'pass',
    },
    {
      story: 'one that was not taken at first',
      events: eventsOf(
        call(),
        acknowledged(),
        ...['1', '2'].map(leg => resultArrives({}, { leg, status: 500 })),
        resultArrives({}, { leg: '3' }),
      ),
      status: 'not-applicable',
    },
    {
      story: 'a 409 for the second',
      events: eventsOf(
        call(),
        acknowledged(),
        resultArrives(),
        resultArrives({}, { leg: 'back-2', status: 409 }),
      ),
      status: 'warn',
    },
  ],
  'RT-PENDING': [
    {
      story: 'a question, then the result',
      events: eventsOf(asked, resultArrives({}, { leg: 'b' })),
      status: 'pass',
    },
    {
      story: 'sent again after the question',
      events: eventsOf(asked, call({ attempt: 2 })),
      status: 'fail',
    },
  ],
  'RT-OAUTH': [
    {
      story: 'an address without a query',
      events: eventsOf(call(), acknowledged(), arrives(OAUTH)),
      status: 'pass',
    },
    {
      story: 'an address with its state',
      events: eventsOf(call(), acknowledged(), arrives({ ...OAUTH, auth_url: `${OAUTH.auth_url}?state=s` })),
      status: 'fail',
    },
    {
      story: 'seen by a tool',
      events: eventsOf(call(), acknowledged(), arrives(OAUTH)),
      observer: 'tool',
      status: 'not-applicable',
    },
  ],
  'RT-CHOICE': [
    {
      story: 'one of the choices',
      events: eventsOf(asked, selects({ id: KEY, selected: 1 })),
      status: 'pass',
    },
    {
      story: 'one of the choices, as the tool sees its path',
      events: eventsOf(asked, selects({ id: KEY, selected: 1 }, '/choices/1')),
      observer: 'tool',
      status: 'pass',
    },
    {
      story: 'none of the choices',
      events: eventsOf(asked, selects({ id: KEY, selected: 2 })),
      status: 'fail',
      says: /not one of the choices/,
    },
    { story: 'no selection in it', events: eventsOf(asked, selects({ id: KEY })), status: 'fail' },
    {
      story: 'sent elsewhere',
      events: eventsOf(asked, selects({ id: KEY, selected: 1 }, 'http://127.0.0.1:3001/invoke')),
      status: 'fail',
    },
    { story: 'no answer until the end', events: eventsOf(asked, timedOut()), status: 'fail' },
    {
      story: 'no answer that is left',
      events: eventsOf(asked, timedOut()),
      isLossy: true,
      status: 'could-not-run',
      says: /recording is incomplete/,
    },
    {
      story: 'sent to what may be a question that was lost',
      events: eventsOf(asked, selects({ id: KEY, selected: 1 }, 'http://127.0.0.1:3001/choices/2')),
      isLossy: true,
      status: 'could-not-run',
      says: /recording is incomplete/,
    },
    { story: 'an end before the answer', events: eventsOf(asked), status: 'could-not-run' },
  ],
  'RT-SUB': [
    {
      story: 'an event of an open subscription',
      events: eventsOf(subscribed, arrives(EVENT, { leg: 'e-1' })),
      status: 'pass',
    },
    {
      story: 'an event of an open subscription refused',
      events: eventsOf(subscribed, arrives(EVENT, { leg: 'e-1', status: 404 })),
      status: 'fail',
    },
    {
      story: 'an event after the last one refused',
      events: eventsOf(
        subscribed,
        arrives({ ...EVENT, final: true }, { leg: 'e-1' }),
        arrives({ ...EVENT, text: 'late' }, { leg: 'e-2', status: 404 }),
      ),
      status: 'pass',
    },
  ],
  'RT-VIEW': [
    { story: 'a view', events: eventsOf(call(), acknowledged(), arrives(VIEW)), status: 'pass' },
    {
      story: 'a view of an unknown type refused',
      events: eventsOf(call(), acknowledged(), arrives({ ...VIEW, view_type: 'hologram' }, { status: 400 })),
      status: 'fail',
    },
  ],
  'RT-NOTIFY': [
    { story: 'a notice that fails', events: eventsOf(call(), told('close', 500)), status: 'pass' },
    {
      story: 'a notice that fails and comes again',
      events: eventsOf(call(), told('cancel', 500), told('cancel')),
      status: 'fail',
      says: /sent again/,
    },
    {
      story: 'a notice that arrived and comes again',
      events: eventsOf(call(), told('cancel'), told('cancel')),
      status: 'pass',
    },
    {
      story: 'a cancel without the id of the call',
      events: eventsOf(call(), notice('cancel', {}, { body: { thread_id: 'g' } })),
      status: 'fail',
      says: /fields of a cancel_tool_call notice are wrong: \$\.tool_call_id: is required/,
    },
    {
      story: 'a close without a body',
      events: eventsOf(call(), notice('close')),
      status: 'fail',
      says: /fields of a close_thread notice are wrong/,
    },
  ],
  'RT-TOOLSET': [
    {
      story: 'an invalid toolset, and no call',
      events: eventsOf(discovered(toolset({ ...EDIT_FILE, name: 'no good' }))),
      status: 'pass',
    },
    {
      story: 'a call of an invalid toolset',
      events: eventsOf(discovered(toolset(EDIT_FILE, { ...EDIT_FILE, name: 'no good' })), call(), answer()),
      status: 'fail',
      says: /invalid toolset/,
    },
    {
      story: 'a call of a name that two define',
      events: eventsOf(OFFERED, discovered(toolset(EDIT_FILE), 'http://127.0.0.1:3002'), call(), answer()),
      status: 'fail',
      says: /two toolsets/,
    },
    { story: 'a valid toolset', events: eventsOf(OFFERED, call(), answer()), status: 'not-applicable' },
  ],
};
