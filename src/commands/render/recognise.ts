import type { DialectName } from '../../dialects/dialect.js';
import { ProtocolCliError } from '../../errors.js';
import { isTranscript } from '../../exchange/transcript-signs.js';
import { byteLines } from '../../text/byte-lines.js';
import { isRecord } from '../../text/is-record.js';
import { decodeUtf8 } from '../../text/json.js';
import { readJsonOnce } from '../../text/json-once.js';
import { jsonTrouble } from '../json-trouble.js';
import { DIFF_NAME, diffIn, readDiff } from './kinds/diff.js';
import { KINDS } from './kinds/index.js';
import type { Kind, Recognition, Saved, SoundJson } from './kinds/kind.js';
import { recogniseTranscript, TRANSCRIPT_NAME } from './kinds/transcript.js';
import { kindOf, recogniseLines, recogniseList, SEVERAL_NAME } from './recognise-several.js';

/** Bytes that are enough to see what a file is. */
const HEAD = 256 * 1024;
/** Of what is wrong; whoever mends these finds the others. */
const MOST_FAULTS = 8;

/** What somebody wants to be shown. */
export interface Source {
  /** For messages. */
  readonly name: string;
  /** Used up: they may not be looked at afterwards. */
  readonly bytes: Uint8Array;
  /** Null: whatever it is. */
  readonly dialect: DialectName | null;
}

/**
 * Sees what bytes are, by themselves alone.
 * @throws ProtocolCliError `unreadable-file` with what was looked for and what comes nearest, each fault with its place.
 */
export async function recognise(source: Source): Promise<Saved> {
  const { bytes } = source;
  const head = new TextDecoder().decode(bytes.subarray(0, HEAD));
  if (head.trim() === '' && bytes.length <= HEAD) throw unreadable(source, 'it is empty');
  if (isTranscript(head)) return accept(source, TRANSCRIPT_NAME, recogniseTranscript(byteLines(bytes)));
  return /^\s*[{[]/.test(head) ? recogniseJson(source) : recogniseText(source);
}

async function recogniseJson(source: Source): Promise<Saved> {
  const json = readJsonOnce(source.bytes);
  const kinds = kindsOf(source);
  const several = json.ok
    ? await recogniseList(json, kinds)
    : await recogniseLines(byteLines(source.bytes), kinds);
  if (several) return accept(source, SEVERAL_NAME, several);
  if (!json.ok)
    throw unreadable(source, 'it begins like JSON, and is none', [jsonTrouble(source.bytes, json.reason)]);
  const kind = kindOf(json.value, kinds);
  if (kind) return accept(source, kind.name, await kind.read(json));
  throw unreadable(source, UNKNOWN, await nearestOf(json, kinds));
}

function recogniseText(source: Source): Saved {
  const text = decodeUtf8(source.bytes);
  if (text === null) throw unreadable(source, 'it is not valid UTF-8', [], encodingHint(source.bytes));
  const diff = source.dialect === null ? diffIn(text) : null;
  if (diff !== null) return accept(source, DIFF_NAME, readDiff(diff));
  const isPlainDiff = source.dialect === null && PLAIN_DIFF.test(text);
  throw unreadable(source, UNKNOWN, [], isPlainDiff ? 'Make the diff a unified one: diff -u.' : undefined);
}

/** As `diff` writes without `-u`. */
const PLAIN_DIFF = /^\d+(?:,\d+)?[acd]\d+(?:,\d+)?\n[<>] /m;

const UNKNOWN = 'it is nothing that is known here';

function accept(source: Source, name: string, recognition: Recognition): Saved {
  if (recognition.ok) return recognition.saved;
  throw new ProtocolCliError(
    'unreadable-file',
    `cannot show ${source.name}: it is meant as ${bare(name)}, and is none`,
    {
      faults: fewOf(recognition.faults),
    },
  );
}

/** A name within a sentence: without its examples. */
function bare(name: string): string {
  return name.replace(/ \(.*\)$|:.*$/, '');
}

/** The kind whose keys the object has most of, and what keeps it from being one. */
async function nearestOf(json: SoundJson, kinds: readonly Kind[]): Promise<string[]> {
  const { value } = json;
  if (!isRecord(value)) return [`$: must be an object, and is ${Array.isArray(value) ? 'a list' : 'none'}`];
  const shared = ({ keys }: Kind) => keys.filter(key => Object.hasOwn(value, key)).length;
  const nearest = [...kinds].sort((one, other) => shared(other) - shared(one))[0];
  if (!nearest || shared(nearest) === 0) return [];
  const reading = await nearest.read(json);
  return reading.ok ? [] : [`the nearest is ${bare(nearest.name)}, but:`, ...fewOf(reading.faults)];
}

function fewOf(faults: readonly string[]): string[] {
  const more = faults.length - MOST_FAULTS;
  return more > 0 ? [...faults.slice(0, MOST_FAULTS), `and ${more} more`] : [...faults];
}

function kindsOf({ dialect }: Source): readonly Kind[] {
  return KINDS.filter(kind => dialect === null || kind.dialect === dialect);
}

function unreadable(source: Source, why: string, faults: readonly string[] = [], hint?: string) {
  const known = [...kindsOf(source).map(({ name }) => name), SEVERAL_NAME, TRANSCRIPT_NAME];
  const all = source.dialect === null ? [...known, DIFF_NAME] : known;
  return new ProtocolCliError('unreadable-file', `cannot show ${source.name}: ${why}`, {
    faults: [...faults],
    hint: hint ?? `Looked for: ${all.join('; ')}.`,
  });
}

/** What a redirection in PowerShell writes. */
function encodingHint([first, second]: Uint8Array): string {
  const isUtf16 = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  return isUtf16 ? 'It looks like UTF-16: save it as UTF-8.' : 'Is it compressed, or a picture?';
}
