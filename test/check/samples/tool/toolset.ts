import { eventsOf, type Moment } from '../../../events/build.js';
import { discovery, notice, planned, TOOLSET } from '../parts.js';
import type { Samples } from '../sample.js';

const [tool] = TOOLSET.tools;
const misnamed = { ...TOOLSET, tools: [{ ...tool, name: 'edit file' }] };
const twice = { ...TOOLSET, tools: [tool, tool] };
const withScript = (displayScript: string) => ({ ...TOOLSET, tools: [{ ...tool, displayScript }] });
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

export const discoverSamples: Samples = [
  { story: 'a toolset', events: eventsOf(discovery()), status: 'pass' },
  {
    story: 'a toolset, and nobody there at another time',
    events: eventsOf(discovery('', { status: null, phase: 'connect', code: 'ECONNREFUSED' }), discovery()),
    status: 'pass',
    says: /^requested 2 times; the tool was unreachable once \(ECONNREFUSED\)$/,
  },
  {
    story: 'a toolset at the origin, and none at the base',
    events: eventsOf(discovery('', { status: 404 }), discovery()),
    status: 'pass',
  },
  {
    story: 'a toolset that is valid except for its names',
    events: eventsOf(discovery(misnamed)),
    status: 'pass',
  },
  { story: '404', events: eventsOf(discovery('', { status: 404 })), status: 'fail', says: /answered 404/ },
  { story: 'no JSON', events: eventsOf(discovery('<html>')), status: 'fail', says: /JSON/ },
  {
    story: '200, and nothing',
    events: withoutDocument({}),
    status: 'fail',
    says: /200 without a document/,
  },
  {
    story: 'a document that was not kept',
    events: withoutDocument({ 'content-length': '120' }),
    status: 'could-not-run',
    says: /not recorded/,
  },
  {
    story: 'no tools',
    events: eventsOf(discovery({ ...TOOLSET, tools: [] })),
    status: 'fail',
    says: /\$\.tools/,
  },
  {
    story: 'another content type',
    events: eventsOf(discovery(TOOLSET, { headers: { 'content-type': 'text/html' } })),
    status: 'warn',
    says: /text\/html/,
  },
  {
    story: 'a display script that cannot be parsed',
    events: eventsOf(discovery(withScript('"Edit " + (args.path'))),
    status: 'warn',
    says: /\$\.tools\[0\]\.displayScript cannot be parsed: unexpected end in line 1/,
  },
  {
    story: 'a display script that uses more of Rhai than is supported',
    events: eventsOf(discovery(withScript('fn name() { "Edit" } name()'))),
    status: 'pass',
  },
  {
    story: '401',
    events: eventsOf(discovery('', { status: 401 })),
    status: 'could-not-run',
    says: /credentials/,
  },
  { story: 'nobody there', events: eventsOf(discovery('', { status: null })), status: 'could-not-run' },
  { story: 'nobody asked', events: eventsOf(), status: 'not-applicable' },
];

export const namesSamples: Samples = [
  { story: 'good names', events: eventsOf(discovery()), status: 'pass' },
  {
    story: 'a name with a space',
    events: eventsOf(discovery(misnamed)),
    status: 'fail',
    says: /tools\[0\]\.name/,
  },
  { story: 'a name twice', events: eventsOf(discovery(twice)), status: 'fail', says: /already/ },
  {
    story: 'a toolset that is invalid for another reason',
    events: eventsOf(discovery({ ...TOOLSET, endpoint: 7 })),
    status: 'not-applicable',
  },
];

export const migrateSamples: Samples = [
  {
    story: 'a refusal of what cannot succeed',
    events: eventsOf(discovery(moving), migration({ status: 502 }, {})),
    status: 'pass',
    says: /502/,
  },
  {
    story: '404 for a session that it does not know',
    events: eventsOf(discovery(moving), notice('migrate', { status: 404, body: 'no such session' })),
    status: 'pass',
  },
  {
    story: '200 to what may have succeeded',
    events: eventsOf(discovery(moving), planned(['TOOL-MIGRATE'], 'migrate'), migration()),
    status: 'pass',
  },
  {
    story: '200 to what names nowhere to go',
    events: eventsOf(discovery(moving), migration({}, { session_id: 'session_1' })),
    status: 'fail',
    says: /an invalid request/,
  },
  {
    story: '200 to what says nothing',
    events: eventsOf(discovery(moving), notice('migrate')),
    status: 'fail',
  },
  {
    story: '200 to what was not kept',
    events: eventsOf(discovery(moving), unkept(notice('migrate'))),
    status: 'pass',
  },
  {
    story: 'no /migrate',
    events: eventsOf(discovery(moving), notice('migrate', { status: 404, body: 'Cannot POST /migrate' })),
    status: 'fail',
    says: /\/migrate is missing/,
  },
  {
    story: 'no answer',
    events: eventsOf(discovery(moving), notice('migrate', { status: null })),
    status: 'could-not-run',
  },
  {
    story: 'a toolset that needs none',
    events: eventsOf(discovery(), notice('migrate', { status: 404 })),
    status: 'not-applicable',
  },
];
