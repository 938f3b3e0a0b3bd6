import { eventsOf, type Moment } from '../../../events/build.js';
import { discovery, notice, planned, TOOLSET } from '../parts.js';
import { fails, passes, type Samples, skips, unclear, warns } from '../sample.js';

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
  passes('a toolset', [discovery()]),
  passes(
    'a toolset, and a refused connection at another time',
    [discovery('', { status: null, phase: 'connect', code: 'ECONNREFUSED' }), discovery()],
    /^requested 2 times; the tool was unreachable once \(ECONNREFUSED\)$/,
  ),
  passes('a toolset at the origin, and none at the base URL', [discovery('', { status: 404 }), discovery()]),
  passes('a toolset that is valid except for its names', [discovery(misnamed)]),
  fails('404', [discovery('', { status: 404 })], /answered 404/),
  fails('invalid JSON', [discovery('<html>')], /JSON/),
  {
    story: '200 with an empty body',
    events: withoutDocument({}),
    status: 'fail',
    says: /200 without a document/,
  },
  {
    story: 'a document that was not recorded',
    events: withoutDocument({ 'content-length': '120' }),
    status: 'could-not-run',
    says: /not recorded/,
  },
  fails('no tools', [discovery({ ...TOOLSET, tools: [] })], /\$\.tools/),
  warns(
    'another content type',
    [discovery(TOOLSET, { headers: { 'content-type': 'text/html' } })],
    /text\/html/,
  ),
  warns(
    'a display script that cannot be parsed',
    [discovery(withScript('"Edit " + (args.path'))],
    /\$\.tools\[0\]\.displayScript cannot be parsed: unexpected end in line 1/,
  ),
  passes('a display script that uses more of Rhai than is supported', [
    discovery(withScript('fn name() { "Edit" } name()')),
  ]),
  unclear('401', [discovery('', { status: 401 })], /credentials/),
  unclear('a refused connection', [discovery('', { status: null })]),
  skips('no request', []),
];

export const namesSamples: Samples = [
  passes('valid names', [discovery()]),
  fails('a name with a space', [discovery(misnamed)], /tools\[0\]\.name/),
  fails('a repeated name', [discovery(twice)], /already/),
  skips('a toolset that is invalid for another reason', [discovery({ ...TOOLSET, endpoint: 7 })]),
];

export const migrateSamples: Samples = [
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
  fails('200 to an empty migration', [discovery(moving), notice('migrate')]),
  passes('200 to a migration that was not recorded', [discovery(moving), unkept(notice('migrate'))]),
  fails(
    'no /migrate',
    [discovery(moving), notice('migrate', { status: 404, body: 'Cannot POST /migrate' })],
    /\/migrate is missing/,
  ),
  unclear('no response', [discovery(moving), notice('migrate', { status: null })]),
  skips('a toolset without migrations', [discovery(), notice('migrate', { status: 404 })]),
];
