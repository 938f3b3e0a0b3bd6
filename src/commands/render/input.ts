import type { DialectName } from '../../dialects/dialect.js';
import { readRecording } from '../../events/transcript-reader.js';
import { readCallback } from '../../protocol/callbacks.js';
import { quote } from '../../render/line.js';
import { parsePatch, totalsOf } from '../../segments/diff.js';
import { ProtocolCliError } from '../../util/errors.js';
import { type JsonReading, parseJson, readJson } from '../../util/json.js';
import { jsonParts } from '../../util/json-text.js';
import { byteLines, decodeUtf8, firstWithRest } from '../../util/text.js';
import { isRecord } from '../../util/values.js';
import { jsonTrouble } from '../target.js';
import { KINDS } from './kinds.js';
import {
  InvalidJson,
  type Json,
  type Kind,
  messagesOf,
  numbered,
  type Saved,
  saved,
  type View,
} from './saved.js';
import { SavedTranscript } from './transcript.js';

/** How many bytes are read to detect the format of a file. */
const HEAD = 256 * 1024;

/** Maximum number of errors shown; the rest appear when these are fixed. */
const MAX_FAULTS = 8;

// Names with articles, for messages.
const DIFF = 'a unified diff';

const TRANSCRIPT = 'a transcript (--save, -o ndjson)';

const SEVERAL = 'several of these: a list, or a line for each';

const FORMATS_HINT =
  'protocol-cli render --help lists the formats. A recording is what --save, record and -o ndjson write; with --dialect, the file is read as that format.';

/** Matches where the first file of a diff begins; the text before it, such as the message of `git show`, is prose. */
const START = /^(?:diff --git |Index: |--- [^\n]*\n\+\+\+ |@@ -\d)/m;

/** Colour codes that git writes with `color.ui = always`. */
const COLOURS = /\p{Cc}\[[\d;]*[mK]/gu;

/** A part of a file. @param place adds the place of the part to an error */
interface Part {
  readonly json: Json | Extract<JsonReading, { ok: false }>;
  place(fault: string): string;
}

/** A file to show. */
export class Input {
  readonly #kinds: readonly Kind[];

  /**
   * @param name used in messages
   * @param dialect null for any
   */
  constructor(
    readonly name: string,
    private readonly bytes: Uint8Array,
    private readonly dialect: DialectName | null,
    private readonly view: View,
  ) {
    this.#kinds = KINDS.filter(kind => dialect === null || kind.dialect === dialect);
  }

  /** Returns its text as it was written, without whitespace around it. */
  text(): string {
    return new TextDecoder().decode(this.bytes).trim();
  }

  /**
   * Detects the format, and reads it.
   * @throws ProtocolCliError `unreadable-file` with the formats that were tried and the closest one, each error with its place.
   */
  async read(): Promise<Saved> {
    const { name, bytes } = this;
    const head = new TextDecoder().decode(bytes.subarray(0, HEAD));
    if (head.trim() === '' && bytes.length <= HEAD) throw this.#unreadable('it is empty');
    const transcript = readRecording(name, bytes);
    if (transcript) {
      const { events, faults } = transcript;
      if (events.length === 0 && faults.length > 0) throw this.#invalid(TRANSCRIPT, faults);
      return new SavedTranscript(transcript, this.view.supports);
    }
    return /^\s*[{[]/.test(head) ? this.#readJson() : this.#readText();
  }

  async #readJson(): Promise<Saved> {
    const reading = readJson(this.bytes);
    let parts: Json['source'] | undefined;
    const source: Json['source'] = path => {
      parts ??= jsonParts(this.text());
      return parts(path);
    };
    const json = reading.ok ? { ...reading, source } : null;
    const kind = json && this.#kindOf(json.value);
    try {
      if (json && kind) return await kind.read(json, this.view);
      const several = await this.#readSeveral(json ? itemsOf(json) : linesIn(this.bytes), json?.notes);
      if (several) return several;
    } catch (error) {
      throw error instanceof InvalidJson ? this.#invalid(kind?.name ?? SEVERAL, error.faults) : error;
    }
    if (!reading.ok) throw this.#unreadable('invalid JSON', [jsonTrouble(this.bytes, reading.reason)]);
    throw this.#unreadable('unrecognized format', whyNoCallback(reading.value));
  }

  /** Reads a list of messages, or one per line, as `--as` writes them. Returns null if the first is not a known object. */
  async #readSeveral(parts: Iterable<Part>, notes: readonly string[] = []): Promise<Saved | null> {
    const all: Saved[] = [];
    const faults: string[] = [];
    for (const part of parts) {
      const kind = part.json.ok ? this.#kindOf(part.json.value) : null;
      if (!kind && all.length + faults.length === 0) return null;
      await this.#readPart(part, kind).then(
        read => void all.push(read),
        error => {
          if (!(error instanceof InvalidJson)) throw error;
          faults.push(...error.faults.map(part.place));
        },
      );
    }
    if (faults.length > 0) throw new InvalidJson(faults);
    if (all.length === 0) return null;
    const sections = all.map(each => each.sections);
    const messages = all.map(each => each.report);
    return saved('messages', numbered('MESSAGE', sections), { messages }, messagesOf(notes), to =>
      all.flatMap(each => each.answers?.(to) ?? []),
    );
  }

  /** @throws InvalidJson */
  async #readPart({ json }: Part, kind: Kind | null): Promise<Saved> {
    if (!json.ok) throw new InvalidJson([json.reason]);
    if (!kind) throw new InvalidJson(['$: unrecognized format']);
    return kind.read(json, this.view);
  }

  #readText(): Saved {
    const text = decodeUtf8(this.bytes)?.replace(/^\uFEFF/, '');
    if (text === undefined)
      throw this.#unreadable('it is not valid UTF-8', [], 'Is it compressed, or a picture?');
    const diff = [text, text.replace(COLOURS, '')].find(each => START.test(each));
    if (diff === undefined || this.dialect !== null) throw this.#unreadable('unrecognized format');
    return this.#readDiff(diff);
  }

  /** Reads a unified diff, as `git diff` and `git show` print it. */
  #readDiff(text: string): Saved {
    const start = text.search(START);
    const [prose, raw] = [text.slice(0, start), text.slice(start)];
    const parsed = parsePatch(raw);
    if (!parsed.ok) {
      const before = prose.split('\n').length - 1;
      const reason = parsed.reason.replace(/^line (\d+)/, (_, at: string) => `line ${Number(at) + before}`);
      throw this.#invalid(DIFF, [reason]);
    }
    const { files } = parsed.diff;
    const lines = prose.trim() === '' ? [] : prose.trim().split('\n');
    return saved(
      'diff',
      [lines.map(line => quote(line)), { kind: 'diff', path: '', diff: parsed.diff, raw }],
      {
        files: files.map(({ hunks, ...file }) => {
          const { oldPath, newPath, kind, added: plus, removed: minus } = file;
          return { oldPath, newPath, kind, hunks: hunks.length, added: plus, removed: minus };
        }),
        ...totalsOf(parsed.diff),
      },
      parsed.recounted.map(message => ({ id: 'TOOL-DIFF', message })),
    );
  }

  /** Returns the kind that an object looks like; null if unknown. */
  #kindOf(value: unknown): Kind | null {
    return isRecord(value) ? (this.#kinds.find(each => each.looksLike(value)) ?? null) : null;
  }

  #invalid(what: string, faults: readonly string[]): ProtocolCliError {
    const kind = what.replace(/ \(.*\)$|:.*$/, ''); // without examples
    const message = `cannot show ${this.name}: it looks like ${kind} but is not valid`;
    return new ProtocolCliError('unreadable-file', message, { faults: firstWithRest(faults, MAX_FAULTS) });
  }

  #unreadable(why: string, faults: readonly string[] = [], hint?: string): ProtocolCliError {
    return new ProtocolCliError('unreadable-file', `cannot show ${this.name}: ${why}`, {
      faults,
      hint: hint ?? FORMATS_HINT,
    });
  }
}

/** Returns why an object is not a callback, if it has members of one. */
function whyNoCallback(value: unknown): string[] {
  if (!isRecord(value)) return [`$: must be an object${Array.isArray(value) ? ', not a list' : ''}`];
  const reading = readCallback({ ok: true, value, notes: [] });
  if (reading.ok || !('type' in value || 'group_id' in value)) return [];
  return ['closest match: a callback, but:', ...firstWithRest(reading.faults, MAX_FAULTS)];
}

function* itemsOf({ value, source }: Json): Generator<Part> {
  for (const [index, item] of Array.isArray(value) ? value.entries() : [])
    yield {
      json: { ok: true, value: item, notes: [], source: path => source([index, ...path]) },
      place: fault => fault.replace(/^\$/, `$[${index}]`),
    };
}

function* linesIn(bytes: Uint8Array): Generator<Part> {
  let number = 0;
  for (const line of byteLines(bytes)) {
    const place = `line ${++number}: `;
    if (line.trim() === '') continue;
    const json = parseJson(line);
    const written = json.ok ? { ...json, source: jsonParts(line.trim()) } : json;
    yield { json: written, place: fault => place + fault };
  }
}
