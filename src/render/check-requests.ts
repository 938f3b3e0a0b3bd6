import type { CaseCheck } from '../check/cases.js';
import type { Gap, IdleExcuse, Row, Standing } from '../check/conformance.js';
import type { Spot } from '../check/rule.js';
import { REQUIREMENTS } from '../check/rules/all.js';
import type { Event, RequestEvent } from '../events/events.js';
import { shareableUrl } from '../events/shareable.js';
import { formatDuration } from '../util/format-duration.js';
import { cut } from '../util/json-diagnosis.js';
import type { Redactor } from '../util/redact.js';
import { valueAt } from '../util/redact-json.js';
import { callText, type Ids, MOST_CALLS, type Piece, piecesOf } from './check-pieces.js';
import { type Line, quote, type Span, say } from './line.js';

/** Characters of the name of an operation. */
const NAME = 60;

/** What was on the wire, for whoever wants to see for themselves. */
export interface WireRecord {
  readonly events: readonly Event[];
  readonly redactor: Redactor;
  /** Whose lines a finding names: the transcript that is checked, or that of a check. */
  readonly file?: string;
}

/** What a row is proved by. */
interface Proof {
  readonly events: readonly number[];
  readonly spots?: readonly Spot[];
}

/** A request and what became of it, as it may leave the machine: bounded, secrets out, not yet made visible. */
interface WireLeg {
  /** `seq` of the request. */
  readonly event: number;
  readonly method: string;
  readonly url: string;
  /** What was called; null where it is about no call, or about one that cannot be read. */
  readonly operation: string | null;
  /** A status, or how it broke: `connect: ECONNREFUSED`; null where nothing came. */
  readonly end: string | null;
  /** The probe that let a callback end so, which is not taken; null where there is none. */
  readonly endedBy: string | null;
  readonly ms: number | null;
  readonly request: readonly Piece[];
  readonly response: readonly Piece[];
}

/** The requests among the events of a proof, in its order; those whose answer is meant too. */
function wireLegs({ events: seqs, spots = [] }: Proof, record: WireRecord): readonly WireLeg[] {
  const places = new Map(seqs.map((seq, place) => [seq, place]));
  const placeOf = ({ seq }: Event) => places.get(seq) ?? 0;
  const proof = record.events.filter(({ seq }) => places.has(seq));
  const inOrder = proof.toSorted((one, other) => placeOf(one) - placeOf(other));
  const legs = new Set(inOrder.map(event => ('leg' in event ? event.leg : undefined)));
  const requests = new Map(requestsIn(record.events, legs).map(request => [request.leg, request]));
  return [...legs].flatMap(leg => requests.get(leg ?? '') ?? []).map(each => legOf(each, spots, record));
}

function requestsIn(events: readonly Event[], legs: ReadonlySet<string | undefined>) {
  return events.filter(event => event.kind === 'request').filter(({ leg }) => legs.has(leg));
}

function legOf(request: RequestEvent, spots: readonly Spot[], { events, redactor }: WireRecord): WireLeg {
  const { seq, method, leg, body, at } = request;
  const end = endOf(leg, events);
  const isTaken = end?.kind === 'response' && end.status < 300;
  const spotsIn = (event: Event) => spots.filter(spot => spot.event === event.seq);
  return {
    event: seq,
    method,
    url: shareableUrl(request, redactor),
    operation: operationOf(request, events, redactor),
    end: end ? (end.kind === 'response' ? String(end.status) : `${end.phase}: ${end.code}`) : null,
    endedBy: end && !isTaken ? probeOf(request, events) : null,
    ms: end ? Math.max(0, end.at - at) : null,
    request: piecesOf(body, spotsIn(request), redactor),
    response: end?.kind === 'response' ? piecesOf(end.body, spotsIn(end), redactor) : [],
  };
}

function endOf(leg: string, events: readonly Event[]) {
  return events
    .filter(event => event.kind === 'response' || event.kind === 'broken')
    .find(event => event.leg === leg);
}

/** Who makes a call for a check listens for what comes of it. */
function probeOf({ calls: [key] = [], purpose }: RequestEvent, events: readonly Event[]): string | null {
  if (key === undefined || purpose !== 'callback') return null;
  const plan = events.find(
    event => event.kind === 'planned' && event.by === 'probe' && event.calls?.includes(key),
  );
  return plan?.kind === 'planned' ? plan.plan : null;
}

/** An invocation says it itself. */
function operationOf(
  { calls: [key] = [], purpose }: RequestEvent,
  events: readonly Event[],
  redactor: Redactor,
) {
  const invocation = events.find(
    event => event.kind === 'request' && event.purpose === 'invocation' && event.calls?.[0] === key,
  );
  if (
    key === undefined ||
    purpose === 'invocation' ||
    invocation?.kind !== 'request' ||
    !invocation.body?.json.ok
  )
    return null;
  const operation = valueAt(invocation.body.json.value, 'operation');
  return typeof operation === 'string' ? cut(redactor.text(operation), NAME) : null;
}

/** Requests shown of those that prove something; the others are in the transcript. */
const MOST_LEGS = 4;

/** The requests that prove something, each with what became of it and the part of its bodies that matters; alike ones once. */
export function wireLines(proof: Proof, record: WireRecord): readonly Line[] {
  const { shown, rest } = tellingLegs(proof, record);
  return [
    ...shown.flatMap(legLines),
    ...(rest > 0 ? [[say('│ ', 'gutter'), say(`… ${rest} more`, 'dim')]] : []),
  ];
}

/** Those that are shown, and how many are not. */
export function tellingLegs(proof: Proof, record: WireRecord) {
  const legs = wireLegs(proof, record);
  const looks = legs.map(looksOf);
  const different = legs.filter((_, index) => looks.indexOf(looks[index] ?? '') === index);
  const shown = different.slice(0, MOST_LEGS);
  return { shown, rest: legs.length - shown.length };
}

/** What a reader sees of it, but for how long it took. */
function looksOf({ method, url, operation, end, endedBy, request, response }: WireLeg): string {
  return JSON.stringify([method, url, operation, end, endedBy, request, response]);
}

function legLines(leg: WireLeg): Line[] {
  const { method, url, request, response } = leg;
  return [
    [say('│ ', 'gutter'), ...quote(`${method} ${url}`), ...wireLinesEndOf(leg)],
    ...request.map(piece => pieceLine(piece, '')),
    ...response.map(piece => pieceLine(piece, '← ')),
  ];
}

function wireLinesEndOf({ end, endedBy, ms, operation }: WireLeg): Line {
  const what = operation === null ? [] : [say(' · of ', 'dim'), ...quote(operation, 'dim')];
  if (end === null || ms === null) return [say(' got no answer', 'dim'), ...what];
  const how = endedBy === null ? quote(end) : endedByProbe(end, endedBy);
  return [say(' → ', 'dim'), ...how, say(` after ${formatDuration(ms)}`, 'dim'), ...what];
}

/** It is the check's own listener that did not take it, and no fault of the tool's. */
function endedByProbe(end: string, probe: string): Line {
  const isStatus = /^\d+$/.test(end);
  return [...quote(isStatus ? end : 'not answered'), say(' by the probe ', 'dim'), ...quote(probe, 'dim')];
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

/** A row with all that there is to say: what was asked, what was there instead, and how it was on the wire. */
export function rowLines(row: Row, record: WireRecord, ids: Ids = 'short'): readonly Line[] {
  const { id, level, standing, masks = [] } = row;
  return [
    headed(standing, say(id, 'title'), say(`  ${level}  `, 'dim'), say(REQUIREMENTS[id].statement)),
    ...excuseLines(row),
    ...(standing === 'stale' ? [] : reasonLines(row)),
    ...(standing === 'stale' ? [] : callLines(row, record, ids)),
    ...differenceLines(row),
    ...indented(standing === 'stale' ? [] : wireLines(row, record)),
    ...(BREACHES.includes(standing) ? [labelled('to do', say(REQUIREMENTS[id].advice))] : []),
    ...(masks.length > 0 ? [detail(say(`may also cause: ${masks.join(', ')}`, 'dim'))] : []),
  ];
}

/** Cells of a label and the gap after it. */
const LABEL = 10;

/** Of these there is something to mend on the side that is judged. */
export const BREACHES: readonly Standing[] = ['failed', 'warned'];

/** `· TOOL-CHOICE  did not apply: … (known.yaml:3)` */
export function idleLines({ id, why, place }: IdleExcuse): Line[] {
  return [
    headed('not-applicable', say(id, 'title'), say('  is expected to fail')),
    detail(say('it '), ...quote(why), ...whereOf(place)),
  ];
}

/** The same as one sentence. */
export function idleText({ id, why, place }: IdleExcuse): string {
  return `${id} is expected to fail (${place}); it ${why}`;
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
    ...indented(wireLines({ events }, record)),
  ];
}

function reasonLines({ reason, reasonLines: lines = [reason] }: Pick<Row, 'reason' | 'reasonLines'>): Line[] {
  return lines.map(line => detail(...quote(line)));
}

/** What may have been there. */
export function gapLines({ place, reason }: Gap): Line[] {
  return [headed('could-not-run', ...quote(place, 'title')), detail(...quote(reason))];
}

export function caseName({ place, operation }: Pick<CaseCheck, 'place' | 'operation'>): Line {
  return [...quote(operation, 'title'), say('  '), ...quote(place, 'dim')];
}

function excuseLines({ standing, excuse }: Row): Line[] {
  if (!excuse) return [];
  if (standing === 'stale')
    return [detail(say('passes but is expected to fail; remove it from '), ...quote(excuse.place))];
  return standing === 'expected'
    ? [detail(say('expected: '), ...quote(excuse.reason), ...whereOf(excuse.place))]
    : [];
}

function whereOf(place: string): Line {
  return [say(' (', 'dim'), ...quote(place, 'dim'), say(')', 'dim')];
}

function differenceLines({ expected, actual }: Row): Line[] {
  return [
    ...(expected === undefined ? [] : [labelled('expected', ...quote(expected))]),
    ...(actual === undefined ? [] : [labelled('actual', ...quote(actual))]),
  ];
}

/** Which calls it is about: `call      edit_file · call_8f3a… · run.ndjson:9`. */
function callLines({ calls = [] }: Pick<Row, 'calls'>, { file }: WireRecord, ids: Ids): Line[] {
  const told = calls.slice(0, MOST_CALLS).map(call => quote(callText(call, file, ids)));
  const rest = calls.length - told.length;
  const lines = rest > 0 ? [...told, [say(`and ${rest} more`, 'dim')]] : told;
  const label = calls.length === 1 ? 'call' : 'calls';
  return lines.map((line, index) => labelled(index === 0 ? label : '', ...line));
}

function headed(standing: Standing, ...spans: Line): Line {
  return [MARKS[standing], say(' ', 'gutter'), ...spans];
}

/** In columns: what goes on below is below its own. */
function labelled(label: string, ...spans: Line): Line {
  return detail(say(label.padEnd(LABEL), 'gutter'), ...spans);
}

function detail(...spans: Line): Line {
  return [say('    ', 'gutter'), ...spans];
}

function indented(lines: readonly Line[]): Line[] {
  return lines.map(line => detail(...line));
}
