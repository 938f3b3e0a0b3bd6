import type { DialectName } from '../../dialects/dialect.js';
import { DIALECTS, translate } from '../../dialects/dialects.js';
import { readRecording } from '../../events/transcript-reader.js';
import { readCallback } from '../../protocol/callbacks.js';
import type { Warning } from '../../protocol/requirements.js';
import { quote, UNWRAPPED } from '../../render/line.js';
import { warningText } from '../../render/outputs/trouble.js';
import { backgroundOf } from '../../render/terminal/background.js';
import { colourLevel } from '../../render/terminal/colour-level.js';
import { pictureLines } from '../../render/terminal/svg.js';
import type { Colours } from '../../render/terminal/theme.js';
import { mergeWarnings } from '../../render/warnings.js';
import { parsePatch, totalsOf } from '../../segments/diff.js';
import { writePublicFile } from '../../system/files.js';
import { isClosed, writeOut } from '../../system/streams.js';
import { ProtocolCliError } from '../../util/errors.js';
import { type JsonReading, parseJson, readJson } from '../../util/json.js';
import { lossyNumberNotes } from '../../util/json-notes.js';
import { jsonParts, prettyJson } from '../../util/json-text.js';
import { scanJson } from '../../util/json-tokens.js';
import { LIMITS } from '../../util/limits.js';
import { safeJson, safeSource } from '../../util/redact.js';
import { byteLines, decodeUtf8, firstWithRest } from '../../util/text.js';
import { isRecord } from '../../util/values.js';
import { requireScreen, usageError } from '../options.js';
import { readSource } from '../read-source.js';
import { jsonTrouble } from '../target.js';
import { type ExitStatus, linesSetting, type Terminal } from '../terminal.js';
import { KINDS } from './kinds.js';
import { layoutOf } from './layout.js';
import {
  type CallSelection,
  InvalidJson,
  type Json,
  type Kind,
  messagesOf,
  numbered,
  type Saved,
  type SavedAnswer,
  saved,
  type View,
} from './saved.js';
import { SavedTranscript } from './transcript.js';

interface RenderOptions extends CallSelection {
  readonly dialect?: DialectName;
  readonly supports: ReadonlySet<string>;
  readonly output: 'ui' | 'plain' | 'json';
  readonly as?: 'svg' | DialectName;
  readonly save?: string;
  readonly width?: number;
  readonly unfold?: boolean;
  /** Long lines are not cut in a pipe. */
  readonly full?: boolean;
  /** If undefined, the terminal and the environment decide. */
  readonly color?: boolean;
}

/** Runs `render`: reads the file, detects its format, and shows it. */
export async function runRender(
  file: string,
  options: RenderOptions,
  terminal: Terminal,
): Promise<ExitStatus> {
  const { as, save, output, dialect = null, supports, call, failed } = options;
  const { stdin, stdout, stderr } = terminal;
  refuseContradictions(options, terminal);
  const name = file === '-' ? 'standard input' : file;
  const bytes = await readSource(file, stdin, LIMITS.fileBytes.value);
  const to = as === 'svg' ? undefined : as;
  const kept = to ? Uint8Array.from(bytes) : new Uint8Array();
  const text = () => new TextDecoder().decode(kept).trim();
  const view = { supports, isPrivate: stdout.isTTY === true && as === undefined };
  const whole = await new Input(name, bytes, text, dialect, view).recognise();
  const saved = call === undefined && !failed ? whole : whole.only?.(options);
  if (saved === undefined) throw usageError(`--call and --failed need a transcript; ${name} is not one`);
  let status: ExitStatus = 0;
  let warnings: readonly Warning[] = [];
  if (saved === null)
    stderr.write(`no ${call === undefined ? 'call of the transcript' : 'selected call'} failed\n`);
  else if (to) {
    const written = translated(saved, to, name, text);
    await writeLines(written.lines, save, stdout);
    warnings = mergeWarnings(written.losses.map(message => ({ message })));
  } else if (output === 'json') await writeOut(stdout, `${safeJson(saved.report, 2)}\n`);
  else status = await show(saved, name, options, terminal);
  for (const warning of [...warnings, ...problemsOf(name, saved ?? whole)])
    stderr.write(warningText(warning));
  return status;
}

function refuseContradictions({ as, save, output }: RenderOptions, terminal: Terminal): void {
  if (linesSetting(terminal.env) === null) requireScreen(output, terminal);
  if (save !== undefined && as === undefined)
    throw usageError('--save needs --as svg or --as <dialect>', 'To save text, use > file.');
  if (as !== undefined && output !== 'plain') throw usageError(`--as and -o ${output} exclude each other`);
}

function problemsOf(name: string, { faults = [], losses = [] }: Saved): Warning[] {
  const [first] = losses;
  const unread = `${faults.length} line${faults.length === 1 ? '' : 's'} of ${name} could not be read; what could be is shown`;
  const more = losses.length > 1 ? `; and ${losses.length - 1} more` : '';
  return [
    ...(faults.length > 0 ? [{ message: unread }] : []),
    ...(first === undefined ? [] : [{ message: `${name} is not whole: ${first}${more}` }]),
  ];
}

/** In cells. */
const PICTURE_WIDTH = 100;
const PICTURE_COLOURS: Colours = { level: 3, background: 'dark' };

/** Shows the sections as text, as an image, or full screen. */
async function show(
  { sections }: Saved,
  name: string,
  options: RenderOptions,
  terminal: Terminal,
): Promise<ExitStatus> {
  const { stdout, env } = terminal;
  const { output, save, as, unfold: isUnfolded = false, full: isFull = false } = options;
  const colours = as ? PICTURE_COLOURS : coloursOf(options, terminal);
  if (output === 'ui' && linesSetting(env) === null) {
    const { showFullScreen } = await import('./reader.js');
    return showFullScreen(name, sections, isUnfolded, colours, terminal);
  }
  const rowsFor = await layoutOf(sections, colours, { isUnfolded, isFull });
  const natural = as ? PICTURE_WIDTH : (stdout.isTTY && stdout.columns) || UNWRAPPED;
  const { width = natural } = options;
  await writeLines(as ? pictureLines(rowsFor, width) : rowsFor(width), save, stdout);
  return 0;
}

/** `--color` takes precedence over the environment. */
function coloursOf({ color }: RenderOptions, { stdout, env }: Terminal): Colours {
  const isTTY = stdout.isTTY === true;
  const background = backgroundOf(env);
  if (color !== true) return { level: colourLevel({ env, isTTY, noColor: color === false }), background };
  const { NO_COLOR: _, ...others } = env;
  const level = colourLevel({ env: { ...others, FORCE_COLOR: 'true' }, isTTY, noColor: false });
  return { level, background };
}

/** Characters per write. The first write is small, so that a screenful appears immediately. */
const FIRST_CHUNK = 4 * 1024;

const CHUNK = 64 * 1024;

/** Writes to a file, or to a stream as fast as its reader reads; stops when the reader is gone (threats, row 30). */
async function writeLines(
  lines: Iterable<string>,
  path: string | undefined,
  stream: NodeJS.WritableStream,
): Promise<void> {
  if (path !== undefined) return writePublicFile(path, lines);
  let chunk = '';
  let least = FIRST_CHUNK;
  for (const line of lines) {
    chunk += `${line}\n`;
    if (chunk.length < least) continue;
    await writeOut(stream, chunk);
    chunk = '';
    least = CHUNK;
    if (isClosed(stream)) return;
  }
  await writeOut(stream, chunk);
}

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

/** The input to show. Its bytes are consumed by reading. */
class Input {
  readonly #kinds: readonly Kind[];

  /**
   * @param name used in messages
   * @param text returns the original text; called only for answers of `--as`
   * @param dialect null for any
   */
  constructor(
    private readonly name: string,
    private readonly bytes: Uint8Array,
    private readonly text: () => string,
    private readonly dialect: DialectName | null,
    private readonly view: View,
  ) {
    this.#kinds = KINDS.filter(kind => dialect === null || kind.dialect === dialect);
  }

  /**
   * Detects the format.
   * @throws ProtocolCliError `unreadable-file` with the formats that were tried and the closest one, each error with its place.
   */
  async recognise(): Promise<Saved> {
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

/**
 * Converts the answers of a saved file to another system: one object, or one per line. If the system is the same, the original JSON is
 * kept to the last digit.
 * @throws ProtocolCliError `usage` without any
 */
function translated(saved: Saved, to: DialectName, name: string, text: () => string) {
  const answers = saved.answers?.(to) ?? [];
  if (answers.length === 0)
    throw usageError(
      `no tool result in ${name} that --as ${to} can write`,
      'A tool_result, a report, a transcript, a settled call, a ToolCallResult and a CallToolResult hold one.',
    );
  const isOnly = answers.length === 1;
  const whole = (source: string) => (source === text() ? source : (prettyJson(source) ?? source));
  const losses: string[] = [];
  const lines = answers.map(from => {
    const { native, answer, dialect } = from;
    const source = from.source?.() ?? null;
    if (dialect === to && source !== null) {
      losses.push(...emptyIds(native, to));
      return safeSource(isOnly ? whole(source) : onOneLine(source));
    }
    const { body, warnings } = answer
      ? translate({ answer, native, ...(dialect && { dialect }) }, to)
      : { body: native, warnings: [] };
    const { title = to } = DIALECTS.find(each => each.name === to) ?? {};
    const numbers = lossyNumbers(from, source).map(note => `${title} gets another number: ${note}`);
    losses.push(...warnings.map(({ message }) => message), ...emptyIds(body, to), ...numbers);
    return safeJson(body, isOnly ? 2 : 0);
  });
  return { lines, losses };
}

/** Without ids, no runtime can match the result to a call (TOOL-ID, TOOL-GROUP). */
function emptyIds(body: unknown, to: DialectName): string[] {
  if (to !== 'rap' || !isRecord(body)) return [];
  const empty = ['id', 'group_id'].filter(name => body[name] === '');
  if (empty.length === 0) return [];
  return [
    `${empty.join(' and ')} ${empty.length === 1 ? 'is' : 'are'} empty: fill in the ids of the invocation, or no runtime will match this result`,
  ];
}

/** Returns numbers that parsing changed. LM-Kit encodes its payload as a string, which is parsed too. */
function lossyNumbers({ dialect, native }: SavedAnswer, source: string | null): readonly string[] {
  const payload = dialect === 'lmkit' && isRecord(native) ? native['ResultJson'] : undefined;
  const isRead = typeof payload === 'string' && parseJson(payload).ok;
  return [...lossyNumberNotes(source ?? ''), ...(isRead ? lossyNumberNotes(payload) : [])];
}

/** The tokens of a JSON text, as written, without whitespace. */
function onOneLine(text: string): string {
  if (!/[\r\n]/.test(text)) return text.trim();
  const tokens: string[] = [];
  scanJson(text, (_, from, to) => tokens.push(text.slice(from, to)));
  return tokens.join('');
}
