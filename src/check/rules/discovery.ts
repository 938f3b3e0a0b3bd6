import { migrateSchema, type Tool } from '../../protocol/toolset.js';
import { validate } from '../../protocol/validate.js';
import { parseDisplayScript } from '../../util/display-script/parser.js';
import { cut } from '../../util/json-diagnosis.js';
import { firstFew } from '../../util/json-layout.js';
import { visibleLine } from '../../util/visible.js';
import { type Discovery, type Evidence, type Leg, statusOf, toolsetsAt } from '../evidence.js';
import { breakOf, isBodyLost, OF_CALLS, toolsetFaults, toolsetNotes } from '../evidence-queries.js';
import {
  broken,
  type Difference,
  doubtful,
  held,
  heldBut,
  lacking,
  type Observation,
  type Rule,
  unseen,
} from '../judge.js';

/** Characters of one. */
const FAULTS_MOST = 300;

/** The errors of a document or a message, each cut and safe to print. */
export function withFaults(faults: readonly string[]): Pick<Difference, 'faults'> {
  return { faults: faults.map(fault => cut(visibleLine(fault), FAULTS_MOST)) };
}

/** Paths that one remark names. */
const MOST_PATHS = 3;

/** One remark on optional members that are null. */
export function nullRemark(nulls: readonly string[] = []): readonly string[] {
  if (nulls.length === 0) return [];
  const paths = firstFew(nulls, MOST_PATHS);
  return [cut(`null counts as absent for an optional member; leave it out instead: ${paths}`, FAULTS_MOST)];
}

/** Characters of a content type. */
const MOST = 500;

/** TOOL-DISCOVER: there is a toolset, and it is valid. Whether its names are is of TOOL-NAMES. */
export const servesToolset: Rule = {
  id: 'TOOL-DISCOVER',
  masks: ['TOOL-NAMES', ...OF_CALLS],
  absent: 'no toolset was asked for',
  observe: ({ discoveries }) => {
    const found = discoveries.filter(discovery => statusOf(discovery) === 200);
    if (found.length > 0) return [...found.flatMap(onFound), ...discoveries.flatMap(onFailed)];
    return discoveries.length > 0 ? [onNothing(discoveries)] : [];
  },
};

/** Asked at the base, and then at the origin: it need not be at both. */
function onNothing(discoveries: readonly Discovery[]): Observation {
  const statuses = discoveries.flatMap(discovery => statusOf(discovery) ?? []);
  if (statuses.length === 0) return unseen(whyNone(discoveries), discoveries);
  if (statuses.some(status => status === 401 || status === 403))
    return unseen('discovery requires credentials (--bearer, --header)', discoveries);
  const actual = [...new Set(statuses)].join(', ');
  return lacking(`discovery answered ${actual}`, discoveries, { expected: '200, and a toolset', actual });
}

/** The client may have stopped before the answer, like a recorder that was stopped. */
function whyNone(discoveries: readonly Discovery[]): string {
  return discoveries.every(discovery => breakOf(discovery) === 'called-off')
    ? 'the request for the toolset was canceled before an answer came'
    : `the tool could not be reached (${[...new Set(discoveries.flatMap(({ broken: end }) => end?.code ?? []))].join(', ')})`;
}

/** Beside one that came. */
function onFailed(discovery: Discovery, at: number, all: readonly Discovery[]): Observation[] {
  const { broken: end } = discovery;
  if (!end || breakOf(discovery) === 'called-off') return [];
  return [
    heldBut(
      `requested ${all.length} times; the tool was unreachable once (${end.code})`,
      all.slice(at, at + 1),
    ),
  ];
}

/** A document that was not kept cannot be judged. */
function onNoDocument(discovery: Discovery): Observation {
  const { response } = discovery;
  return response && isBodyLost(response)
    ? unseen('the document was not recorded', [discovery])
    : broken('discovery answered 200 without a document', [discovery], { expected: '200, and a toolset' });
}

function onFound(discovery: Discovery): readonly Observation[] {
  const { reading, response } = discovery;
  if (!reading) return [onNoDocument(discovery)];
  const { rest } = toolsetFaults(discovery);
  if (rest.length > 0) return [broken('invalid toolset', [discovery], withFaults(rest))];
  if (!reading.ok) return [held([discovery], 'valid except for its names')];
  const { rest: notes } = toolsetNotes(discovery);
  const scripts = reading.toolset.tools.flatMap(scriptRemark);
  const remarks = [
    ...notes,
    ...scripts,
    ...nullRemark(reading.nulls),
    ...remarkOn(response?.headers['content-type']),
  ];
  return [remarks.length > 0 ? doubtful(visibleLine(remarks.join('; ')), [discovery]) : held([discovery])];
}

/** Clients show name(arguments) in its place. */
function scriptRemark({ displayScript }: Tool, index: number): string[] {
  const script = displayScript === undefined ? null : parseDisplayScript(displayScript);
  if (script?.kind !== 'invalid') return [];
  return [`$.tools[${index}].displayScript cannot be parsed: ${script.reason}`];
}

function remarkOn(type = 'none'): readonly string[] {
  return /^application\/(?:[\w.+-]+\+)?json\b/i.test(type) ? [] : [`its content type is ${cut(type, MOST)}`];
}

/** TOOL-NAMES: each tool has a name of its own, in the letters that names have. */
export const namesToolsWell: Rule = {
  id: 'TOOL-NAMES',
  masks: ['TOOL-DISCOVER', ...OF_CALLS],
  absent: 'no toolset was found whose names could be judged',
  observe: ({ discoveries }) => discoveries.flatMap(onDiscovery),
};

function onDiscovery(discovery: Discovery): readonly Observation[] {
  const { names } = toolsetFaults(discovery);
  if (names.length > 0)
    return [broken('tool names are invalid or not unique', [discovery], withFaults(names))];
  if (!discovery.reading?.ok) return [];
  const { names: odd } = toolsetNotes(discovery);
  const what = 'clients may reject these tool names';
  return [odd.length > 0 ? doubtful(what, [discovery], withFaults(odd)) : held([discovery])];
}

/** TOOL-MIGRATE: where the toolset says that it needs it, there is a `/migrate`, and its 200 means that the state has moved. */
export const migrates: Rule = {
  id: 'TOOL-MIGRATE',
  absent: 'the toolset needs no migration, or none was asked for',
  observe: evidence =>
    evidence.migrations.filter(migration => isNeeded(migration, evidence)).map(onMigration),
};

function isNeeded({ request }: Leg, { discoveries }: Evidence): boolean {
  return toolsetsAt(discoveries, request.at).some(({ needsMigration }) => needsMigration);
}

function onMigration(migration: Leg): Observation {
  const status = statusOf(migration);
  if (status === null) return unseen('/migrate did not answer', [migration]);
  if (status === 405 || (status === 404 && !saysWhy(migration)))
    return broken(`/migrate is missing: it answered ${status}`, [migration]);
  if (status === 200 && isVain(migration))
    return broken('/migrate answered 200 to an invalid request', [migration], {
      expected: '4xx or 5xx',
      actual: '200',
    });
  return held([migration], `/migrate answered ${status}`);
}

/** It says not both what is to move and where to. What was not kept may have said so. */
function isVain({ request }: Leg): boolean {
  if (isBodyLost(request)) return false;
  const { body } = request;
  return !validate(migrateSchema, body?.json.ok ? body.json.value : undefined).ok;
}

/** A 404 for an unknown session names it; the default 404 page of a server does not. */
function saysWhy({ response }: Leg): boolean {
  const said = response?.body ? Buffer.from(response.body.bytes.subarray(0, 4_096)).toString('utf8') : '';
  return /session|destination|migration|thread/i.test(said);
}
