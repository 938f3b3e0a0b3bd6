import { isFatalExit } from '../check/crash.js';
import { type Conformance, type Row, RULES, type Standing } from '../check/judge.js';
import type { Spot } from '../check/rule.js';
import type { Content } from '../events/content.js';
import type { Event, RequestEvent, ResponseEvent } from '../events/events.js';
import { refusalTexts } from '../events/refusal.js';
import { type RoundTrip, roundTripsIn } from '../events/round-trips.js';
import { shareableText, shareableUrl, withoutSecretUrlsInText } from '../events/shareable.js';
import { SECRET_URLS } from '../protocol/callbacks.js';
import type { RequirementId, Side } from '../protocol/requirements.js';
import { groupBy } from '../util/collections.js';
import { parseJson } from '../util/json.js';
import type { Redactor } from '../util/redact.js';
import { truncate } from '../util/text.js';
import { isRecord, jsonPath, valueAt } from '../util/values.js';
import { type Line, quote, say, took } from './line.js';
import { bodyText } from './wire.js';

export interface WireRecord {
  readonly events: readonly Event[];
  /** The events of each repetition. */
  readonly repeats?: readonly (readonly Event[])[];
  readonly redactor: Redactor;
  /** The transcript that findings refer to by line. */
  readonly file?: string;
}

/** The evidence for a finding: events by their `seq`, and paths in their bodies; also of a run in which a flaky rule did not fail. */
type Proof = Pick<Row, 'events' | 'spots' | 'runs'>;

/** Maximum length of a body shown whole, and of the sketch of a longer one, in characters. */
const [WHOLE, SKETCH] = [160, 320];

/** Characters shown before a finding, of the finding itself, and after it. */
const [BEFORE, POINT, AFTER] = [40, 120, 40];

/** Maximum length of a text that a finding is about, and of an answer, in characters. */
const LONGEST = 1_000;

/** An excerpt of a body, without secrets. */
interface Piece {
  /** A path such as `display_as[0].content.patch`; null for the whole body. */
  readonly place: string | null;
  readonly text: string;
  /** Range of the finding in the text: start and end (exclusive). */
  readonly point?: readonly [from: number, to: number];
}

/** The members that a finding is about; if none can be shown, a sketch of the body. */
function piecesOf(body: Content | undefined, spots: readonly Spot[], redactor: Redactor): readonly Piece[] {
  if (!body || body.size === 0) return [];
  const members = spots.flatMap(spot => memberOf(body, spot, redactor) ?? []);
  return members.length > 0 ? members : [{ place: null, text: sketchOf(body, redactor) }];
}

function sketchOf(body: Content, redactor: Redactor): string {
  const text = bodyText(body, redactor, false) ?? '';
  const json = text.length > WHOLE ? parseJson(text) : null;
  return json?.ok ? truncate(jsonSketch(json.value), SKETCH) : truncate(text, WHOLE);
}

function memberOf(body: Content, { path, range = [0, 0] }: Spot, redactor: Redactor): Piece | null {
  if (!body.json.ok) return null;
  const place = jsonPath(path).replace(/^\$\.?/, '');
  const raw = valueAt(body.json.value, ...path);
  if (raw === undefined) return { place, text: missingText(body.json.value, path, redactor) };
  const value =
    body.size > LARGE ? partOfLarge(raw, path, range, redactor) : shareableAt(body, path, redactor);
  if (typeof value === 'string' && typeof raw === 'string')
    return { place, ...around(value, redactor.text(raw.slice(...range))) };
  return value === undefined ? null : { place, text: truncate(jsonSketch(value), SKETCH) };
}

function shareableAt(body: Content, path: Spot['path'], redactor: Redactor): unknown {
  const json = parseJson(shareableText(body, redactor) ?? '');
  return json.ok ? valueAt(json.value, ...path) : undefined;
}

/** Bytes read around a finding in a larger body: far more than is shown, so that no secret is cut in half. */
const LARGE = 64 * 1024;

/** An excerpt of a long text. URLs that grant access are left out. */
function partOfLarge(
  raw: unknown,
  path: Spot['path'],
  [from, to]: readonly [number, number],
  redactor: Redactor,
) {
  if (typeof raw !== 'string' || SECRET_URLS.some(name => name === path.at(-1))) return undefined;
  return redactor.text(withoutSecretUrlsInText(raw.slice(Math.max(0, from - LARGE), to + LARGE)));
}

/** Shows the siblings of a missing member: it may have another name. */
function missingText(whole: unknown, path: Spot['path'], redactor: Redactor): string {
  const parent = valueAt(whole, ...path.slice(0, -1));
  const names = isRecord(parent) ? Object.keys(parent) : [];
  return `is not there${names.length > 0 ? `; there are ${truncate(redactor.text(names.join(', ')), WHOLE)}` : ''}`;
}

/** The text around a finding, or the beginning of the text. */
function around(text: string, found: string): Pick<Piece, 'text' | 'point'> {
  if (found === '') return { text: `"${truncate(text, LONGEST)}"` };
  const at = Math.max(0, text.indexOf(found));
  const start = at > BEFORE ? at - BEFORE : 0;
  const end = at + Math.min(found.length, POINT);
  const before = `"${start > 0 ? '…' : ''}${text.slice(start, at).toWellFormed()}`;
  const point = text.slice(at, end).toWellFormed();
  const after = `${truncate(text.slice(end), AFTER)}"`;
  return { text: before + point + after, point: [before.length, before.length + point.length] };
}

/** A request and its end, shortened and without secrets. Untrusted text. */
interface RequestEvidence {
  /** Of a flaky rule: the run, from 1. */
  readonly run?: number;
  /** `seq` of the request. */
  readonly event: number;
  readonly method: string;
  readonly url: string;
  /** The operation of the call; null without a call, or if the message names the operation. */
  readonly operation: string | null;
  /** A status, or an error such as `connect: ECONNREFUSED`; null while the request is pending. */
  readonly end: string | null;
  /** The probe that refused this callback on purpose, or null. */
  readonly endedBy: string | null;
  readonly ms: number | null;
  readonly request: readonly Piece[];
  readonly response: readonly Piece[];
}

/** Maximum number of requests shown per finding; the others are in the transcript. */
const MAX_REQUESTS = 4;

/** Maximum length of an operation's name, in characters. */
const MAX_NAME = 60;

/** The distinct requests that prove a finding, in order, and how many are not shown; of a flaky rule, those of two runs. */
export function evidenceOf(proof: Proof, record: WireRecord) {
  const first = evidenceOfRun(proof, record);
  const { other } = proof.runs ?? {};
  if (!other) return first;
  const second = evidenceOfRun(other, { ...record, events: record.repeats?.[other.run - 2] ?? [] });
  return {
    shown: [
      ...first.shown.map(each => ({ run: 1, ...each })),
      ...second.shown.map(each => ({ run: other.run, ...each })),
    ],
    rest: first.rest + second.rest,
  };
}

function evidenceOfRun(proof: Proof, record: WireRecord) {
  const requests = requestsOf(proof, record);
  const different = groupBy(requests, each => [JSON.stringify({ ...each, event: 0, ms: 0 })]);
  const shown = [...different.values()].flatMap(([first]) => first ?? []).slice(0, MAX_REQUESTS);
  return { shown, rest: requests.length - shown.length };
}

function requestsOf({ events: seqs, spots = [] }: Proof, record: WireRecord): RequestEvidence[] {
  const trips = roundTripsIn(record.events);
  const legs = new Map(record.events.map(event => [event.seq, 'leg' in event ? event.leg : undefined]));
  const invocations = groupBy(trips.values(), ({ request: { purpose, calls = [] } }) =>
    purpose === 'invocation' ? calls : [],
  );
  return [...new Set(seqs.map(seq => legs.get(seq)))].flatMap((leg = '') => {
    const trip = trips.get(leg);
    if (!trip) return [];
    const [invocation] = invocations.get(trip.request.calls?.[0] ?? '') ?? [];
    return requestEvidence(trip, spots, valueAt(invocation?.sentJson, 'operation'), record);
  });
}

function requestEvidence(
  trip: RoundTrip,
  spots: readonly Spot[],
  operation: unknown,
  { events, redactor }: WireRecord,
): RequestEvidence {
  const { request, response, end, status, broken } = trip;
  const spotsIn = ({ seq }: Event) => spots.filter(spot => spot.event === seq);
  const isCallback = request.purpose === 'callback';
  const isRefused = broken !== null || (status ?? 0) >= 300;
  const isNamed = request.purpose !== 'invocation' && typeof operation === 'string';
  return {
    event: request.seq,
    method: request.method,
    url: shareableUrl(request, redactor),
    operation: isNamed ? truncate(redactor.text(operation), MAX_NAME) : null,
    end: broken ? `${broken.phase}: ${broken.code}` : (status?.toString() ?? null),
    endedBy: isCallback && isRefused ? probeOf(request, events) : null,
    ms: end ? Math.max(0, end.at - request.at) : null,
    request: piecesOf(request.body, spotsIn(request), redactor),
    response: response ? answerPieces(response, request.url, spotsIn(response), redactor) : [],
  };
}

/** Of a refusal, what it says. */
function answerPieces(
  response: ResponseEvent,
  url: string,
  spots: readonly Spot[],
  redactor: Redactor,
): readonly Piece[] {
  const texts = response.status < 300 || spots.length > 0 ? [] : refusalTexts(response, url);
  return texts.length > 0
    ? [{ place: null, text: truncate(redactor.text(texts.join('; ')), LONGEST) }]
    : piecesOf(response.body, spots, redactor);
}

function probeOf({ calls: [key = ''] = [] }: RequestEvent, events: readonly Event[]): string | null {
  for (const event of events)
    if (event.kind === 'planned' && event.by === 'probe' && event.calls?.includes(key)) return event.plan;
  return null;
}

export function evidenceLines(proof: Proof, record: WireRecord): Line[] {
  const { shown, rest } = evidenceOf(proof, record);
  const bar = say('│ ', 'gutter');
  return [
    ...shown.flatMap((each, index) => [
      ...(each.run === shown[index - 1]?.run ? [] : [[bar, say(`run ${each.run}:`, 'dim')]]),
      [bar, ...quote(`${each.method} ${each.url}`), ...endWords(each)],
      ...each.request.map(piece => pieceLine(piece, '')),
      ...each.response.map(piece => pieceLine(piece, '← ')),
    ]),
    ...(rest > 0 ? [[bar, say(`… ${rest} more`, 'dim')]] : []),
  ];
}

function endWords({ end, endedBy, ms, operation }: RequestEvidence): Line {
  const what = operation === null ? [] : [say(' · of ', 'dim'), ...quote(operation, 'dim')];
  if (end === null || ms === null) return [say(' got no answer', 'dim'), ...what];
  // A callback that the check's listener refused on purpose is not the tool's fault.
  const shown = endedBy !== null && !/^\d+$/.test(end) ? 'not answered' : end;
  const probe = endedBy === null ? [] : [say(' by the probe ', 'dim'), ...quote(endedBy, 'dim')];
  return [say(' → ', 'dim'), ...quote(shown), ...probe, took(ms), ...what];
}

function pieceLine({ place, text, point: [from, to] = [0, 0] }: Piece, mark: string): Line {
  const begin = [say('│   ', 'gutter'), ...(mark === '' ? [] : [say(mark, 'dim')])];
  if (place === null) return [...begin, ...quote(text, 'dim')];
  return [
    ...begin,
    ...quote(`${place}  `, 'dim'),
    ...quote(text.slice(0, from)),
    ...quote(text.slice(from, to), 'bad'),
    ...quote(text.slice(to)),
  ];
}

/** Maximum length of an untrusted id, in characters; the program's own ids are shorter. */
const MAX_ID = 200;

/** Removes secrets: rules quote messages (threats, row 25). */
export function shareableRun(run: Conformance, redactor: Redactor): Conformance {
  const clean = (value: unknown, name = ''): unknown => {
    if (typeof value === 'string') {
      const text = redactor.text(value);
      return name === 'operation' || name === 'id' ? truncate(text, MAX_ID) : text;
    }
    if (Array.isArray(value)) return value.map(each => clean(each));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, clean(each, key)]));
  };
  return clean(run) as Conformance;
}

/** Maximum length of a text, in characters. */
const MAX_SKETCH_TEXT = 32;

const MAX_ITEMS = 4;

const MAX_MEMBERS = 12;

/** Maximum depth; deeper containers are shown as `{…}`. */
const MAX_SKETCH_DEPTH = 3;

export function jsonSketch(value: unknown, depth = 0): string {
  if (typeof value === 'string') return JSON.stringify(truncate(value, MAX_SKETCH_TEXT));
  if (Array.isArray(value)) return listed('[]', value, MAX_ITEMS, depth, jsonSketch);
  if (isRecord(value)) return listed('{}', Object.entries(value), MAX_MEMBERS, depth, member);
  return JSON.stringify(value) ?? 'null';
}

function member([name, value]: readonly [string, unknown], depth: number): string {
  return `${JSON.stringify(truncate(name, MAX_SKETCH_TEXT))}:${jsonSketch(value, depth)}`;
}

function listed<Item>(
  [open = '', close = '']: string,
  items: readonly Item[],
  max: number,
  depth: number,
  sketch: (item: Item, depth: number) => string,
): string {
  if (items.length > 0 && depth >= MAX_SKETCH_DEPTH) return `${open}…${close}`;
  const shown = items.slice(0, max).map(item => sketch(item, depth + 1));
  const rest = items.length - shown.length;
  return `${open}${[...shown, ...(rest > 0 ? [`… ${rest} more`] : [])].join(', ')}${close}`;
}

/** A result of a check: for a rule, a case, a gap in the recording, an expected failure that could not occur, or the exit of a server. */
export interface Finding extends Pick<Row, 'events' | 'spots' | 'runs'> {
  readonly about: Side | 'case' | 'gap' | 'idle' | 'exit';
  readonly standing: Standing;
  readonly heading: Line;
  /** The heading as plain text. Untrusted. */
  readonly name: string;
  /** The title of a code annotation. */
  readonly title: string;
  readonly kind: string;
  readonly reasons: readonly string[];
  readonly scenarios?: readonly string[] | undefined;
  /** `file:line` of the place to fix. */
  readonly place?: string | undefined;
  readonly calls?: Row['calls'] | undefined;
  readonly expected?: string | undefined;
  readonly actual?: string | undefined;
  /** How to fix a violation. */
  readonly advice?: string;
  /** The failed rule that explains why this one could not run. */
  readonly cause?: RequirementId | undefined;
  /** What else it says, with labels. */
  readonly facts?: readonly (readonly [label: string, text: string])[];
}

/** Rules whose violations explain others, and are listed first. */
const CAUSES: readonly RequirementId[] = [
  'TOOL-ACK',
  'TOOL-POST',
  'TOOL-OPAQUE',
  'TOOL-DISCOVER',
  'TOOL-NAMES',
];

/**
 * All results of a check: the exit of a server, rules, cases, gaps in the recording, and expected failures that could not occur. The exit
 * of a server stands for all that it caused.
 */
export function findingsOf(run: Conformance): Finding[] {
  const { checks, gaps, idle, exit, missingResults } = run;
  const nothing = { events: [], kind: 'gap' };
  const isShown = (row: Row) => exit === null || !isOfExit(row);
  const silent = missingResults === null ? [] : checks.filter(({ id }) => id === 'TOOL-ALWAYS');
  const causes = [
    ...checks.filter(({ id, standing }) => isBreach(standing) && CAUSES.includes(id)),
    ...silent.filter(({ standing }) => standing === 'could-not-run'),
  ];
  const rows = [...new Set([...causes, ...checks])].filter(isShown);
  const cases = run.cases.filter(({ byExit }) => exit === null || !byExit);
  return [
    ...(exit ? [exitFinding(exit, run)] : []),
    ...rows.map(row => ({ ...findingOf(row), cause: causeOf(row, checks) })),
    ...cases.map(({ place, operation, status, reason, reasonLines: reasons = [reason], events, calls }) => ({
      about: 'case' as const,
      standing: CASES[status],
      heading: [...quote(operation, 'title'), say('  '), ...quote(place, 'dim')],
      name: `${operation} ${place}`,
      title: `case ${operation} ${status === 'fail' ? 'failed' : 'could not run'}`,
      kind: 'case',
      reasons,
      place,
      events,
      calls,
    })),
    ...gaps.map(({ place, reason }) => ({
      ...nothing,
      about: 'gap' as const,
      standing: 'could-not-run' as const,
      heading: quote(place, 'title'),
      name: `recording is complete at ${place}`,
      title: 'incomplete recording; violations may be missed',
      reasons: [reason],
      place,
    })),
    ...idle.map(({ id, place, why }) => ({
      ...nothing,
      about: 'idle' as const,
      standing: 'not-applicable' as const,
      heading: [say(id, 'title'), say('  is expected to fail')],
      name: id,
      title: `${id} is expected to fail`,
      reasons: [`it ${why} (${place})`],
      place,
    })),
  ];
}

/** Whether the exit of the server stands for this row; an expected failure has a row of its own. */
export function isOfExit({ byExit, standing }: Row): boolean {
  return byExit === true && (isBreach(standing) || standing === 'could-not-run');
}

/** The name of the test that fails if a server exits. */
const KEEPS_RUNNING = 'the server keeps running';

const REPEATED = 'a new server exited too, with nothing else in progress';

function exitFinding(
  exit: NonNullable<Conformance['exit']>,
  { checks, cases, verdict }: Conformance,
): Finding {
  const { message, output, calls, cause, isRepeated } = exit;
  const rows = checks.filter(isOfExit);
  const broken = rows.filter(({ standing }) => isBreach(standing));
  const names = [
    ...rows.flatMap(({ id, standing }) => (isBreach(standing) ? [] : [id])),
    ...cases.flatMap(({ byExit, operation, place }) => (byExit ? [`case ${operation} ${place}`] : [])),
  ];
  const [first] = broken;
  const isFailure = isFatalExit(exit) || (isRepeated === null && first !== undefined);
  return {
    about: 'exit',
    standing: isFailure && verdict === 'failed' ? 'failed' : 'could-not-run',
    heading: quote(message, 'title'),
    name: KEEPS_RUNNING,
    title: message,
    kind: 'exit',
    reasons: output?.length === 0 ? ['it wrote nothing to stderr'] : (output ?? [REFUSED]),
    events: [...cause, ...broken.flatMap(({ events }) => events)],
    spots: broken.flatMap(({ spots = [] }) => spots),
    calls: output === null ? calls : (first?.calls ?? calls),
    expected: first?.expected,
    facts: [
      ...broken.map(
        ({ id, level }) => ['fails', `${id} (${level}): the tool ${RULES[id].statement}`] as const,
      ),
      ...(output === null ? [] : [['repeated', isRepeated ? REPEATED : notRepeated(exit)] as const]),
      ...(names.length === 0 ? [] : [['not run', names.join(', ')] as const]),
    ],
    ...(output === null && { advice: FIND_CALL }),
    ...(output !== null && first && { advice: RULES[first.id].advice }),
  };
}

const REFUSED = 'it had answered before, and then refused every connection';
const FIND_CALL =
  'Read the log of the tool, and start it again. protocol-cli check --command <command> finds the call that ends it.';

function notRepeated({ isRepeated, repeats }: NonNullable<Conformance['exit']>): string {
  if (isRepeated === null) return 'no: a recording cannot be repeated';
  if (repeats === 0) return 'no: nothing that it was doing may be called again';
  return repeats === 1
    ? 'no: a new server with the same call, and nothing else in progress, did not exit'
    : `no: ${repeats} new servers with one call or probe each, and nothing else in progress, did not exit`;
}

export const CASES = { pass: 'passed', fail: 'failed', 'could-not-run': 'could-not-run' } as const;

/** The failed rule that explains why this one could not run. */
function causeOf({ cause, standing }: Row, checks: readonly Row[]): Finding['cause'] {
  if (standing !== 'could-not-run') return undefined;
  return checks.find(({ id, status }) => id === cause && status === 'fail')?.id;
}

function findingOf(row: Row): Finding {
  const { id, side, level, standing, reason, reasonLines = [reason], expectedFailure, events } = row;
  const { statement } = RULES[id];
  const { advice = RULES[id].advice } = row;
  const rule = {
    about: side,
    standing,
    heading: [say(id, 'title'), say(`  ${level}  `, 'dim'), say(statement)],
    name: `${id} ${statement}`,
    title: titleOf(row),
    kind: level,
    events,
  };
  if (standing === 'stale') {
    const stale = `it passes but is expected to fail; remove it from ${expectedFailure?.place}`;
    return { ...rule, reasons: [stale], place: expectedFailure?.place };
  }
  const { scenarios, calls, expected, actual, spots = [], runs } = row;
  const isExpected = expectedFailure !== undefined && standing === 'expected';
  return {
    ...rule,
    reasons: [
      ...(isExpected ? [`expected: ${expectedFailure.reason} (${expectedFailure.place})`] : []),
      ...reasonLines,
    ],
    ...{ scenarios, calls, expected, actual, spots },
    ...(runs && { runs }),
    ...(isBreach(standing) && { advice }),
  };
}

function titleOf({ id, level, standing }: Row): string {
  if (standing === 'could-not-run') return `${id} could not run`;
  return standing === 'flaky' ? `${id} is flaky` : `${id} (${level})`;
}

/** Whether this result has to be fixed. */
export function isBreach(standing: Standing): boolean {
  return standing === 'failed' || standing === 'flaky' || standing === 'warned';
}

/** Whether messages can prove this result. */
export function hasEvidence(standing: Standing): boolean {
  return standing !== 'passed' && standing !== 'stale' && standing !== 'not-applicable';
}
