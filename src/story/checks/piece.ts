import type { Content } from '../../exchange/content.js';
import { shareableText, withoutPowerInText } from '../../exchange/shareable.js';
import type { Spot } from '../../rules/spot.js';
import { bytesText } from '../../text/bytes-text.js';
import { cut } from '../../text/cut.js';
import { isRecord } from '../../text/is-record.js';
import { decodeUtf8, parseJson } from '../../text/json.js';
import { jsonPath } from '../../text/json-path.js';
import { jsonSketch } from '../../text/json-sketch.js';
import type { Redactor } from '../../text/redact.js';
import { valueAt } from '../../text/value-at.js';

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
  /** Where in the text the finding is: the first character, and the one after the last. */
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
