import type { DialectName } from '../../dialects/dialect.js';
import { parsePatch } from '../../display/diff.js';
import { type Line, quote, say } from '../../render/line.js';
import { problemLines } from '../../render/saved-answers.js';
import { ProtocolCliError } from '../../util/errors.js';
import { parseJson } from '../../util/json.js';
import { jsonParts } from '../../util/json-format.js';
import { readJsonOnce } from '../../util/json-once.js';
import { byteLines, decodeUtf8 } from '../../util/text.js';
import { isRecord } from '../../util/values.js';
import { readRecording } from '../read-recording.js';
import { jsonTrouble } from '../target.js';
import { below, KINDS } from './kinds.js';
import {
  type Kind,
  linesSection,
  messagesOf,
  type Recognition,
  type Saved,
  type SoundJson,
} from './saved.js';
import { savedTranscript } from './transcript.js';

/** What to show. */
interface Source {
  /** For messages. */
  readonly name: string;
  /** Used up: the caller must not read them afterwards. */
  readonly bytes: Uint8Array;
  /** Null: any. */
  readonly dialect: DialectName | null;
}

/** Bytes that are enough to see what a file is. */
const HEAD = 256 * 1024;

/** Errors that are shown; the rest follow when these are fixed. */
const MOST_FAULTS = 8;

// With their articles, for messages.
const DIFF = 'a unified diff';

const TRANSCRIPT = 'a transcript (--save, -o ndjson)';

const SEVERAL = 'several of these: a list, or a line for each';

/**
 * Detects what bytes are.
 * @throws ProtocolCliError `unreadable-file` with the formats that were tried and the closest one, each fault with its place.
 */
export async function recognise(source: Source): Promise<Saved> {
  const { name, bytes } = source;
  const head = new TextDecoder().decode(bytes.subarray(0, HEAD));
  if (head.trim() === '' && bytes.length <= HEAD) throw unreadable(source, 'it is empty');
  const transcript = readRecording(name, bytes);
  if (transcript) {
    const { events, faults } = transcript;
    if (events.length === 0 && faults.length > 0) throw invalid(source, TRANSCRIPT, faults);
    return savedTranscript(transcript);
  }
  return /^\s*[{[]/.test(head) ? recogniseJson(source) : recogniseText(source);
}

async function recogniseJson(source: Source): Promise<Saved> {
  const json = readJsonOnce(source.bytes);
  const kinds = kindsOf(source);
  const several = json.ok
    ? await recogniseList(json, kinds)
    : await recogniseLines(byteLines(source.bytes), kinds);
  if (several) return accept(source, SEVERAL, several);
  if (!json.ok) throw unreadable(source, 'invalid JSON', [jsonTrouble(source.bytes, json.reason)]);
  const kind = kindOf(json.value, kinds);
  if (kind) return accept(source, kind.name, await kind.read(json));
  throw unreadable(source, 'unrecognized format', await closest(json, kinds));
}

/** What `diff` writes without `-u`. */
const PLAIN_DIFF = /^\d+(?:,\d+)?[acd]\d+(?:,\d+)?\n[<>] /m;

function recogniseText(source: Source): Saved {
  const text = decodeUtf8(source.bytes);
  if (text === null) throw unreadable(source, 'it is not valid UTF-8', [], encodingHint(source.bytes));
  const diff = source.dialect === null ? diffIn(text) : null;
  if (diff !== null) return accept(source, DIFF, readDiff(diff));
  const isPlainDiff = source.dialect === null && PLAIN_DIFF.test(text);
  const hint = isPlainDiff ? 'Use a unified diff: diff -u.' : undefined;
  throw unreadable(source, 'unrecognized format', [], hint);
}

function accept(source: Source, name: string, recognition: Recognition): Saved {
  if (recognition.ok) return recognition.saved;
  throw invalid(source, name, recognition.faults);
}

function invalid({ name: file }: Source, name: string, faults: readonly string[]): ProtocolCliError {
  return new ProtocolCliError(
    'unreadable-file',
    `cannot show ${file}: it looks like ${withoutExamples(name)} but is not valid`,
    { faults: firstOf(faults) },
  );
}

function unreadable(source: Source, why: string, faults: readonly string[] = [], hint?: string) {
  const known = [...kindsOf(source).map(({ name }) => name), SEVERAL, TRANSCRIPT];
  const all = source.dialect === null ? [...known, DIFF] : known;
  return new ProtocolCliError('unreadable-file', `cannot show ${source.name}: ${why}`, {
    faults,
    hint: hint ?? `Looked for: ${all.join('; ')}.`,
  });
}

function kindsOf({ dialect }: Source): readonly Kind[] {
  return KINDS.filter(kind => dialect === null || kind.dialect === dialect);
}

/** The kind that an object looks like; null if unknown. */
function kindOf(value: unknown, kinds: readonly Kind[]): Kind | null {
  return isRecord(value) ? (kinds.find(each => each.isMeant(value)) ?? null) : null;
}

/** The kind that shares the most members with the object, and why it is not of that kind. */
async function closest(json: SoundJson, kinds: readonly Kind[]): Promise<string[]> {
  const { value } = json;
  if (!isRecord(value)) return [`$: must be an object${Array.isArray(value) ? ', not a list' : ''}`];
  const shared = ({ keys }: Kind) => keys.filter(key => Object.hasOwn(value, key)).length;
  const [nearest] = [...kinds].sort((one, other) => shared(other) - shared(one));
  if (!nearest || shared(nearest) === 0) return [];
  const reading = await nearest.read(json);
  if (reading.ok) return [];
  return [`closest match: ${withoutExamples(nearest.name)}, but:`, ...firstOf(reading.faults)];
}

function withoutExamples(name: string): string {
  return name.replace(/ \(.*\)$|:.*$/, '');
}

function firstOf(faults: readonly string[]): string[] {
  const more = faults.length - MOST_FAULTS;
  return more > 0 ? [...faults.slice(0, MOST_FAULTS), `and ${more} more`] : [...faults];
}

/** What a redirection in PowerShell writes is UTF-16. */
function encodingHint([first, second]: Uint8Array): string {
  const isUtf16 = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  return isUtf16 ? 'It looks like UTF-16: save it as UTF-8.' : 'Is it compressed, or a picture?';
}

/** A list of known objects; null if none of its items is one. */
async function recogniseList({ value, notes }: SoundJson, kinds: readonly Kind[]) {
  const items: readonly unknown[] = Array.isArray(value) ? value : [];
  if (!items.some(item => kindOf(item, kinds))) return null;
  const all = await Promise.all(
    items.map(item => recogniseItem({ ok: true, value: item, notes: [] }, kinds)),
  );
  return together(
    all.map((recognition, index) =>
      recognition.ok
        ? { ok: true, saved: below([index], recognition.saved) }
        : { ok: false, faults: recognition.faults.map(fault => fault.replace(/^\$/, `$[${index}]`)) },
    ),
    notes,
  );
}

/** A line of JSON for each object, as `--as` writes several; null if the first line is not a known object. */
async function recogniseLines(lines: Iterable<string>, kinds: readonly Kind[]) {
  const all: Recognition[] = [];
  let number = 0;
  for (const line of lines) {
    number++;
    if (line.trim() === '') continue;
    const json = parseJson(line);
    if (all.length === 0 && !(json.ok && kindOf(json.value, kinds))) return null;
    const read: Recognition = json.ok
      ? await recogniseItem(json, kinds)
      : { ok: false, faults: [json.reason] };
    const at = `line ${number}: `;
    if (read.ok) all.push({ ok: true, saved: inLine(line, read.saved) });
    else all.push({ ok: false, faults: read.faults.map(fault => at + fault) });
  }
  return all.length === 0 ? null : together(all, []);
}

async function recogniseItem(json: SoundJson, kinds: readonly Kind[]): Promise<Recognition> {
  const kind = kindOf(json.value, kinds);
  return kind ? kind.read(json) : { ok: false, faults: ['$: unrecognized format'] };
}

/** The answers of a line have their JSON in that line, and no place in the file. */
function inLine(line: string, saved: Saved): Saved {
  const part = jsonParts(line.trim());
  const answers: Saved['answers'] = to =>
    (saved.answers?.(to) ?? []).map(({ at, ...answer }) => {
      const source = at ? part(at) : null;
      return source === null ? answer : { ...answer, source };
    });
  return { ...saved, answers };
}

/** Several messages of one file. @param notes what is odd about the file */
function together(parts: readonly Recognition[], notes: readonly string[]): Recognition {
  const faults = parts.flatMap(part => (part.ok ? [] : part.faults));
  if (faults.length > 0) return { ok: false, faults };
  const all = parts.flatMap(part => (part.ok ? [part.saved] : []));
  const warnings = messagesOf(notes);
  const saved: Saved = {
    sections: view => [
      ...all.flatMap((each, index) => [
        linesSection([[say(`MESSAGE ${index + 1} of ${all.length}`, 'title')]]),
        ...each.sections(view),
      ]),
      linesSection(problemLines(warnings)),
    ],
    report: view => ({ kind: 'messages', messages: all.map(each => each.report(view)), warnings }),
    answers: to => all.flatMap(each => each.answers?.(to) ?? []),
  };
  return { ok: true, saved };
}

/** Where the first file of a diff begins; the text before, such as the message of `git show`, is prose. */
const START = /^(?:diff --git |Index: |--- .*\n\+\+\+ |@@ -\d)/m;

/** What `color.ui = always` puts into a diff, the escape character before it included. */
const COLOURS = /\p{Cc}\[[\d;]*[mK]/gu;

/** The text if it contains a diff, without colours if necessary; else null. */
function diffIn(text: string): string | null {
  return [text, text.replace(COLOURS, '')].find(each => START.test(each)) ?? null;
}

/** A bare unified diff, as `git diff` and `git show` print it. */
function readDiff(text: string): Recognition {
  const start = text.search(START);
  const [prose, raw] = [text.slice(0, start), text.slice(start)];
  const parsed = parsePatch(raw);
  if (!parsed.ok) {
    const before = prose.split('\n').length - 1;
    const reason = parsed.reason.replace(/^line (\d+)/, (_, line: string) => `line ${Number(line) + before}`);
    return { ok: false, faults: [reason] };
  }
  const { files, added, removed } = parsed.diff;
  const warnings = parsed.recounted.map(message => ({ id: 'TOOL-DIFF', message }) as const);
  const saved: Saved = {
    sections: () => [
      linesSection(
        prose.trim() === ''
          ? []
          : prose
              .trim()
              .split('\n')
              .map((line): Line => quote(line)),
      ),
      { kind: 'drawing', drawing: { kind: 'diff', path: '', diff: parsed.diff, raw } },
      linesSection(problemLines(warnings)),
    ],
    report: () => ({
      kind: 'diff',
      files: files.map(({ hunks, oldPath, newPath, kind, added: plus, removed: minus }) => ({
        ...{ oldPath, newPath, kind },
        hunks: hunks.length,
        added: plus,
        removed: minus,
      })),
      ...{ added, removed, warnings },
    }),
  };
  return { ok: true, saved };
}
