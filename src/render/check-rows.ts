import type { CaseCheck } from '../check/cases.js';
import type { Gap, IdleExcuse, Row, Standing } from '../check/conformance.js';
import type { ConcernedCall } from '../check/judge.js';
import type { Spot } from '../check/rule.js';
import { REQUIREMENTS } from '../check/rules/all.js';
import type { Content } from '../events/content.js';
import type { Event, RequestEvent } from '../events/events.js';
import { shareableText, shareableUrl, withoutPowerInText } from '../events/shareable.js';
import { parseJson } from '../util/json.js';
import { jsonSketch } from '../util/json-format.js';
import type { Redactor } from '../util/redact.js';
import { bytesText, cut, firstFew, firstOf } from '../util/text.js';
import { isRecord, jsonPath, valueAt } from '../util/values.js';
import { visibleLine } from '../util/visible.js';
import { type Line, line, quote, type Span, say, took } from './line.js';
import { beginningText } from './wire.js';

/** The events that a check judged. */
export interface WireRecord {
  readonly events: readonly Event[];
  readonly redactor: Redactor;
  /** The transcript whose lines a finding names. */
  readonly file?: string;
}

/** Characters of a short body, and of the sketch of a longer one. */
const [WHOLE, SKETCH] = [160, 320];

/** Characters of a finding, and around it. */
const [BEFORE, POINT, AFTER] = [40, 120, 40];

/** Bytes that are read of a larger body, or around a finding: so many more than are shown that no secret is cut. */
const LARGE = 64 * 1024;

/** What is shown of a body, without secrets. */
interface Piece {
  /** `display_as[0].content.patch`; null for the body itself. */
  readonly place: string | null;
  readonly text: string;
  /** Range of the finding in the text: start and end (exclusive). */
  readonly point?: readonly [from: number, to: number];
}

/** The members that a finding is about; without any that can be shown, a sketch of the body. */
function piecesOf(body: Content | undefined, spots: readonly Spot[], redactor: Redactor): readonly Piece[] {
  if (!body || body.size === 0) return [];
  const members = spots.flatMap(spot => memberOf(body, spot, redactor) ?? []);
  return members.length > 0 ? members : [{ place: null, text: sketchOf(body, redactor) }];
}

function sketchOf(body: Content, redactor: Redactor): string {
  const text = beginningText(body, redactor);
  if (text === null) return `(${bytesText(body.size)} that are not UTF-8)`;
  const json = text.length > WHOLE && body.size <= LARGE ? parseJson(text) : null;
  return json?.ok ? cut(jsonSketch(json.value), SKETCH) : cut(text, WHOLE);
}

function memberOf(body: Content, spot: Spot, redactor: Redactor): Piece | null {
  if (!body.json.ok) return null;
  const { path, range = [0, 0] } = spot;
  const place = jsonPath(path).replace(/^\$\.?/, '');
  const raw = valueAt(body.json.value, ...path);
  if (raw === undefined) return { place, text: missingText(body.json.value, path, redactor) };
  const value = body.size > LARGE ? partOfLarge(raw, spot, redactor) : shareableAt(body, path, redactor);
  if (value === undefined) return null;
  if (typeof value !== 'string' || typeof raw !== 'string')
    return { place, text: cut(jsonSketch(value), SKETCH) };
  return { place, ...around(value, redactor.text(raw.slice(...range))) };
}

/** With its siblings: the member may have another name. */
function missingText(whole: unknown, path: Spot['path'], redactor: Redactor): string {
  const parent = valueAt(whole, ...path.slice(0, -1));
  const names = isRecord(parent) ? Object.keys(parent) : [];
  return `is not there${names.length > 0 ? `; there are ${cut(redactor.text(names.join(', ')), WHOLE)}` : ''}`;
}

function shareableAt(body: Content, path: Spot['path'], redactor: Redactor): unknown {
  const json = parseJson(shareableText(body, redactor) ?? '');
  return json.ok ? valueAt(json.value, ...path) : undefined;
}

/** A part of a long text; URLs that give power are not shown. */
function partOfLarge(raw: unknown, { path, range: [from, to] = [0, 0] }: Spot, redactor: Redactor) {
  if (typeof raw !== 'string' || ['auth_url', 'response_url'].includes(String(path.at(-1)))) return undefined;
  return redactor.text(withoutPowerInText(raw.slice(Math.max(0, from - LARGE), to + LARGE)));
}

/** The text around a finding; without one, the beginning of the text. */
function around(text: string, found: string): Pick<Piece, 'text' | 'point'> {
  if (found === '') return { text: `"${cut(text, POINT)}"` };
  const at = Math.max(0, text.indexOf(found));
  const start = at > BEFORE ? at - BEFORE : 0;
  const end = at + Math.min(found.length, POINT);
  const before = `"${start > 0 ? '…' : ''}${text.slice(start, at).toWellFormed()}`;
  const point = text.slice(at, end).toWellFormed();
  const after = `${cut(text.slice(end), AFTER)}"`;
  return { text: before + point + after, point: [before.length, before.length + point.length] };
}

/** A finding, and where it can be seen. */
interface Proof {
  /** By their `seq`. */
  readonly events: readonly number[];
  readonly spots?: readonly Spot[];
}

/** A request and its end, bounded and without secrets. Foreign text. */
interface WireLeg {
  /** `seq` of the request. */
  readonly event: number;
  readonly method: string;
  readonly url: string;
  /** The operation of its call; null without a call, or where the message says it. */
  readonly operation: string | null;
  /** A status, or how it broke: `connect: ECONNREFUSED`; null while it is pending. */
  readonly end: string | null;
  /** The probe of this check that refused a callback on purpose; else null. */
  readonly endedBy: string | null;
  readonly ms: number | null;
  readonly request: readonly Piece[];
  readonly response: readonly Piece[];
}

/** Requests of a finding that are shown; the others are in the transcript. */
const MOST_LEGS = 4;

/** The requests that prove a finding, in its order, alike ones once; and how many are not shown. */
export function tellingLegs(proof: Proof, record: WireRecord) {
  const legs = wireLegs(proof, record);
  const different = new Map<string, WireLeg>();
  for (const leg of legs) {
    const looks = JSON.stringify({ ...leg, event: 0, ms: 0 });
    if (!different.has(looks)) different.set(looks, leg);
  }
  const shown = [...different.values()].slice(0, MOST_LEGS);
  return { shown, rest: legs.length - shown.length };
}

function wireLegs({ events: seqs, spots = [] }: Proof, record: WireRecord): WireLeg[] {
  const places = new Map(seqs.map((seq, place) => [seq, place]));
  const proof = record.events
    .filter(({ seq }) => places.has(seq))
    .toSorted((one, other) => (places.get(one.seq) ?? 0) - (places.get(other.seq) ?? 0));
  const legs = new Set(proof.map(event => ('leg' in event ? event.leg : undefined)));
  const requests = new Map<string, RequestEvent>();
  const ends = new Map<string, End>();
  for (const event of record.events) {
    if (event.kind === 'request' && legs.has(event.leg)) requests.set(event.leg, event);
    if (event.kind !== 'response' && event.kind !== 'broken') continue;
    if (legs.has(event.leg) && !ends.has(event.leg)) ends.set(event.leg, event);
  }
  return [...legs].flatMap(leg => {
    const request = requests.get(leg ?? '');
    return request ? legOf(request, ends.get(request.leg), spots, record) : [];
  });
}

type End = Extract<Event, { kind: 'response' | 'broken' }>;

function legOf(
  request: RequestEvent,
  end: End | undefined,
  spots: readonly Spot[],
  { events, redactor }: WireRecord,
): WireLeg {
  const spotsIn = ({ seq }: Event) => spots.filter(spot => spot.event === seq);
  const response = end?.kind === 'response' ? end : null;
  const isRefused = end !== undefined && (response?.status ?? 500) >= 300;
  return {
    event: request.seq,
    method: request.method,
    url: shareableUrl(request, redactor),
    operation: operationOf(request, events, redactor),
    end: end ? (end.kind === 'response' ? String(end.status) : `${end.phase}: ${end.code}`) : null,
    endedBy: isRefused ? probeOf(request, events) : null,
    ms: end ? Math.max(0, end.at - request.at) : null,
    request: piecesOf(request.body, spotsIn(request), redactor),
    response: response ? piecesOf(response.body, spotsIn(response), redactor) : [],
  };
}

function probeOf({ calls: [key] = [], purpose }: RequestEvent, events: readonly Event[]): string | null {
  if (key === undefined || purpose !== 'callback') return null;
  const plan = events.find(
    event => event.kind === 'planned' && event.by === 'probe' && event.calls?.includes(key),
  );
  return plan?.kind === 'planned' ? plan.plan : null;
}

/** Characters of an operation. */
const NAME = 60;

function operationOf(
  { calls: [key] = [], purpose }: RequestEvent,
  events: readonly Event[],
  redactor: Redactor,
) {
  if (key === undefined || purpose === 'invocation') return null;
  const isInvocation = (event: Event): event is RequestEvent =>
    event.kind === 'request' && event.purpose === 'invocation' && event.calls?.[0] === key;
  const json = events.find(isInvocation)?.body?.json;
  const operation = json?.ok ? valueAt(json.value, 'operation') : null;
  return typeof operation === 'string' ? cut(redactor.text(operation), NAME) : null;
}

function wireLines(proof: Proof, record: WireRecord): Line[] {
  const { shown, rest } = tellingLegs(proof, record);
  const bar = say('│ ', 'gutter');
  return [
    ...shown.flatMap(leg => [
      [bar, ...quote(`${leg.method} ${leg.url}`), ...endWords(leg)],
      ...leg.request.map(piece => pieceLine(piece, '')),
      ...leg.response.map(piece => pieceLine(piece, '← ')),
    ]),
    ...(rest > 0 ? [[bar, say(`… ${rest} more`, 'dim')]] : []),
  ].map(each => detail(...each));
}

function endWords({ end, endedBy, ms, operation }: WireLeg): Line {
  const what = operation === null ? [] : [say(' · of ', 'dim'), ...quote(operation, 'dim')];
  if (end === null || ms === null) return [say(' got no answer', 'dim'), ...what];
  // A callback that the listener of the check refused is not the fault of the tool.
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

const MARKS: Readonly<Record<Standing, Span>> = {
  failed: say('✗', 'bad'),
  stale: say('✗', 'bad'),
  warned: say('•', 'warn'),
  'could-not-run': say('?', 'warn'),
  expected: say('~', 'dim'),
  passed: say('✓', 'good'),
  'not-applicable': say('·', 'dim'),
};

/** The standings that call for a fix. */
export const BREACHES: readonly Standing[] = ['failed', 'warned'];

/** A row with everything that there is to say: what was asked, what was seen instead, and how it was on the wire. */
export function rowLines(row: Row, record: WireRecord, ids: Ids = 'short'): readonly Line[] {
  const { id, level, standing, masks = [], excuse, expected, actual } = row;
  const isStale = standing === 'stale';
  return [
    headed(standing, say(id, 'title'), say(`  ${level}  `, 'dim'), say(REQUIREMENTS[id].statement)),
    ...(excuse && isStale
      ? [detail(say('passes but is expected to fail; remove it from '), ...quote(excuse.place))]
      : []),
    ...(excuse && standing === 'expected'
      ? [detail(say('expected: '), ...quote(excuse.reason), ...placeWords(excuse.place))]
      : []),
    ...(isStale ? [] : [...reasonLines(row), ...callLines(row, record, ids)]),
    ...(expected === undefined ? [] : [labelledDetail('expected', ...quote(expected))]),
    ...(actual === undefined ? [] : [labelledDetail('actual', ...quote(actual))]),
    ...(isStale ? [] : wireLines(row, record)),
    ...(BREACHES.includes(standing) ? [labelledDetail('to do', say(REQUIREMENTS[id].advice))] : []),
    ...(masks.length > 0 ? [detail(say(`may also cause: ${masks.join(', ')}`, 'dim'))] : []),
  ];
}

/** A case that is not as expected. */
export function caseLines(
  { place, operation, status, events, calls, ...said }: CaseCheck,
  record: WireRecord,
  ids: Ids = 'short',
): Line[] {
  return [
    headed(status === 'fail' ? 'failed' : 'could-not-run', ...caseName({ place, operation })),
    ...reasonLines(said),
    ...callLines({ calls }, record, ids),
    ...wireLines({ events }, record),
  ];
}

/** `· TOOL-CHOICE  did not apply: … (known.yaml:3)` */
export function idleLines({ id, why, place }: IdleExcuse): Line[] {
  return [
    headed('not-applicable', say(id, 'title'), say('  is expected to fail')),
    detail(say('it '), ...quote(why), ...placeWords(place)),
  ];
}

export function gapLines({ place, reason }: Gap): Line[] {
  return [headed('could-not-run', ...quote(place, 'title')), detail(...quote(reason))];
}

export function caseName({ place, operation }: Pick<CaseCheck, 'place' | 'operation'>): Line {
  return line`${quote(operation, 'title')}  ${quote(place, 'dim')}`;
}

function reasonLines({ reason, reasonLines: lines = [reason] }: Pick<Row, 'reason' | 'reasonLines'>): Line[] {
  return lines.map(text => detail(...quote(text)));
}

function placeWords(place: string): Line {
  return [say(' (', 'dim'), ...quote(place, 'dim'), say(')', 'dim')];
}

function headed(standing: Standing, ...spans: Line): Line {
  return [MARKS[standing], say(' ', 'gutter'), ...spans];
}

function detail(...spans: Line): Line {
  return [say('    ', 'gutter'), ...spans];
}

function labelledDetail(label: string, ...spans: Line): Line {
  return detail(say(label.padEnd(10), 'gutter'), ...spans);
}

/** Calls that a finding names. */
const MOST_CALLS = 3;

/** Characters of a short id. */
const SHORT = 20;

/** How much of an id is shown: `short` only distinguishes calls that also have a line. */
type Ids = 'short' | 'whole';

/** A call, as one finds it again: `edit_file · call_8f3a… · run.ndjson:9`. Safe to print. */
function callText({ operation, id, line: at }: ConcernedCall, file: string | undefined, ids: Ids): string {
  const place = at === undefined ? [] : [file === undefined ? `line ${at}` : `${file}:${at}`];
  const name = id !== null && ids === 'short' && at !== undefined ? cut(id, SHORT) : (id ?? 'no id');
  return visibleLine([operation ?? 'no operation', name, ...place].join(' · '));
}

/** The calls of a finding, one per line: `call      edit_file · call_8f3a… · run.ndjson:9`. */
function callLines({ calls = [] }: Pick<Row, 'calls'>, { file }: WireRecord, ids: Ids): Line[] {
  const names = calls.map(call => callText(call, file, ids));
  const label = calls.length === 1 ? 'call' : 'calls';
  return firstOf(names, MOST_CALLS).map((name, index) =>
    labelledDetail(index === 0 ? label : '', ...quote(name, index < MOST_CALLS ? 'plain' : 'dim')),
  );
}

/** The calls of a finding in one sentence. */
export function callsText(calls: readonly ConcernedCall[], file?: string): string {
  const names = calls.map(call => callText(call, file, 'whole'));
  return firstFew(names, MOST_CALLS);
}
