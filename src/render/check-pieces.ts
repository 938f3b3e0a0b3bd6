import type { ConcernedCall } from '../check/judge.js';
import type { Spot } from '../check/rule.js';
import type { Content } from '../events/content.js';
import { shareableText, withoutPowerInText } from '../events/shareable.js';
import { decodeUtf8, parseJson } from '../util/json.js';
import { bytesText, cut, isRecord } from '../util/json-diagnosis.js';
import { firstFew } from '../util/json-layout.js';
import { jsonSketch } from '../util/json-text.js';
import type { Redactor } from '../util/redact.js';
import { jsonPath, valueAt } from '../util/redact-json.js';
import { visibleLine } from '../util/visible.js';
import type { Line } from './line.js';

/** Characters of a body that a person reads. */
const WHOLE = 160;
/** Of one that is looked over. */
const MOST = 320;
/** Around what a finding is about, and of that itself. */
const [BEFORE, POINT, AFTER] = [40, 120, 40];
/** Of a larger body only a part is looked at. */
const LARGE = 64 * 1024;

/** What is shown of a body; secrets are out of it. */
export interface Piece {
  /** `display_as[0].content.patch`; null for the body itself. */
  readonly place: string | null;
  readonly text: string;
  /** Range of the finding in the text: start and end (exclusive). */
  readonly point?: readonly [from: number, to: number];
}

/** The members that a finding is about; without any, or where none can be shown, the body looked over. */
export function piecesOf(
  body: Content | undefined,
  spots: readonly Spot[],
  redactor: Redactor,
): readonly Piece[] {
  if (!body || body.size === 0) return [];
  const members = spots.flatMap(spot => memberOf(body, spot, redactor) ?? []);
  return members.length > 0 ? members : [{ place: null, text: lookedOver(body, redactor) }];
}

/** What is short is shown as it came. */
function lookedOver(body: Content, redactor: Redactor): string {
  const text = body.size > LARGE ? beginningOf(body, redactor) : shareableText(body, redactor);
  if (text === null) return `(${bytesText(body.size)} that are not UTF-8)`;
  const json = text.length > WHOLE && body.size <= LARGE ? parseJson(text) : null;
  return json?.ok ? cut(jsonSketch(json.value), MOST) : cut(text, WHOLE);
}

/** So much more than is shown that no half of a secret is left at its end. */
function beginningOf({ bytes }: Content, redactor: Redactor): string | null {
  const text = decodeUtf8(bytes);
  return text === null ? null : redactor.text(withoutPowerInText(text.slice(0, LARGE)));
}

function memberOf(body: Content, spot: Spot, redactor: Redactor): Piece | null {
  if (!body.json.ok) return null;
  const { path } = spot;
  const place = jsonPath(path).replace(/^\$\.?/, '');
  const raw = valueAt(body.json.value, ...path);
  if (raw === undefined) return { place, text: missingFrom(body.json.value, path, redactor) };
  const value = body.size > LARGE ? shareablePart(raw, spot, redactor) : shareableAt(body, path, redactor);
  if (value === undefined) return null;
  if (typeof value !== 'string' || typeof raw !== 'string')
    return { place, text: cut(jsonSketch(value), MOST) };
  return { place, ...around(value, redactor.text(raw.slice(...(spot.range ?? [0, 0])))) };
}

/** What stands beside it: somebody may have written another name. */
function missingFrom(whole: unknown, path: Spot['path'], redactor: Redactor): string {
  const parent = valueAt(whole, ...path.slice(0, -1));
  const names = isRecord(parent) ? Object.keys(parent) : [];
  return `is not there${names.length > 0 ? `; there are ${cut(redactor.text(names.join(', ')), WHOLE)}` : ''}`;
}

function shareableAt(body: Content, path: Spot['path'], redactor: Redactor): unknown {
  const json = parseJson(shareableText(body, redactor) ?? '');
  return json.ok ? valueAt(json.value, ...path) : undefined;
}

/** Of a text so much more than is shown that no half of a secret is left at either end. */
function shareablePart(raw: unknown, { path, range: [from, to] = [0, 0] }: Spot, redactor: Redactor) {
  const isPowerful = POWERFUL.has(String(path.at(-1)));
  if (typeof raw !== 'string' || isPowerful) return undefined;
  return redactor.text(withoutPowerInText(raw.slice(Math.max(0, from - LARGE), to + LARGE)));
}

const POWERFUL = new Set(['auth_url', 'response_url']);

/** The text around what was found in it; from its beginning, where nothing was. */
function around(text: string, found: string): Pick<Piece, 'text' | 'point'> {
  const at = Math.max(0, text.indexOf(found));
  if (found === '') return { text: `"${cut(text, POINT)}"` };
  const start = at > BEFORE ? at - BEFORE : 0;
  const end = at + Math.min(found.length, POINT);
  const before = `"${start > 0 ? '…' : ''}${text.slice(start, at).toWellFormed()}`;
  const point = text.slice(at, end).toWellFormed();
  const after = `${cut(text.slice(end), AFTER)}"`;
  return { text: before + point + after, point: [before.length, before.length + point.length] };
}

/** Characters of an id that a person looks for. */
const SHORT = 20;
/** Calls that are told of a finding. */
export const MOST_CALLS = 3;

/** How much of an id is told: on a screen so much as tells one from the other, where a line tells the place. */
export type Ids = 'short' | 'whole';

/** A call, as it is found again: `edit_file · call_8f3a… · run.ndjson:9`. One line, safe to print. */
export function callText({ operation, id, line }: ConcernedCall, file?: string, ids: Ids = 'whole'): string {
  const parts = [
    operation ?? 'no operation',
    id === null ? 'no id' : ids === 'whole' || line === undefined ? id : cut(id, SHORT),
    ...(line === undefined ? [] : [file === undefined ? `line ${line}` : `${file}:${line}`]),
  ];
  return visibleLine(parts.join(' · '));
}

/** The calls of a finding in one sentence. */
export function callsText(calls: readonly ConcernedCall[], file?: string): string {
  return firstFew(
    calls.map(call => callText(call, file)),
    MOST_CALLS,
  );
}

/** Lines without their looks. */
export function plainText(lines: readonly Line[]): string {
  return lines
    .map(line =>
      line
        .map(({ text }) => text)
        .join('')
        .trimEnd(),
    )
    .join('\n');
}
