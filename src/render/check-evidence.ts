import type { Conformance, Row } from '../check/conformance.js';
import type { Spot } from '../check/rule.js';
import type { Body, Event, RequestEvent, ResponseEvent } from '../events/events.js';
import { refusalTexts } from '../events/refusal.js';
import { type RoundTrip, roundTripsIn } from '../events/round-trips.js';
import { shareableText, shareableUrl, withoutSecretUrlsInText } from '../events/shareable.js';
import { SECRET_URLS } from '../protocol/callbacks.js';
import { groupBy } from '../util/collections.js';
import { parseJson } from '../util/json.js';
import type { Redactor } from '../util/redact.js';
import { truncate } from '../util/text.js';
import { isRecord, jsonPath, valueAt } from '../util/values.js';
import { breakReason } from './calls.js';
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
function evidencePieces(
  body: Body | undefined,
  spots: readonly Spot[],
  redactor: Redactor,
): readonly Piece[] {
  if (!body || body.size === 0) return [];
  const members = spots.flatMap(spot => memberOf(body, spot, redactor) ?? []);
  return members.length > 0 ? members : [{ place: null, text: sketchOf(body, redactor) }];
}

function sketchOf(body: Body, redactor: Redactor): string {
  const text = bodyText(body, redactor, false) ?? '';
  const json = text.length > WHOLE ? parseJson(text) : null;
  return json?.ok ? truncate(jsonSketch(json.value), SKETCH) : truncate(text, WHOLE);
}

function memberOf(body: Body, { path, range = [0, 0] }: Spot, redactor: Redactor): Piece | null {
  if (!body.json.ok) return null;
  const place = jsonPath(path).replace(/^\$\.?/, '');
  const raw = valueAt(body.json.value, ...path);
  if (raw === undefined) return { place, text: missingText(body.json.value, path, redactor) };
  const isLarge = body.size > LARGE;
  const value = isLarge ? partOfLarge(raw, path, range, redactor) : shareableAt(body, path, redactor);
  if (typeof value === 'string' && typeof raw === 'string') {
    const [from] = range;
    const start = isLarge ? Math.max(0, from - LARGE) : 0;
    const before = redactor.text(withoutSecretUrlsInText(raw.slice(start, from)));
    return { place, ...around(value, redactor.text(raw.slice(...range)), before.length) };
  }
  return value === undefined ? null : { place, text: truncate(jsonSketch(value), SKETCH) };
}

function shareableAt(body: Body, path: Spot['path'], redactor: Redactor): unknown {
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

/** The text around a finding, or the beginning of the text. @param expected its place, unless a secret stands across its edge */
function around(text: string, found: string, expected: number): Pick<Piece, 'text' | 'point'> {
  if (found === '') return { text: `"${truncate(text, LONGEST)}"` };
  const at = text.startsWith(found, expected) ? expected : Math.max(0, text.indexOf(found));
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
    end: broken ? endOf(broken) : (status?.toString() ?? null),
    endedBy: isCallback && isRefused ? probeOf(request, events) : null,
    ms: end ? Math.max(0, end.at - request.at) : null,
    request: evidencePieces(request.body, spotsIn(request), redactor),
    response: response ? answerPieces(response, request.url, spotsIn(response), redactor) : [],
  };
}

function endOf({ phase, code }: NonNullable<RoundTrip['broken']>): string {
  const reason = breakReason(code);
  return reason === code ? `${phase}: ${code}` : reason;
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
    : evidencePieces(response.body, spots, redactor);
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
