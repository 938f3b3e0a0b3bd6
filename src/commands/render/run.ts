import type { DialectName } from '../../dialects/dialect.js';
import { dialectOf, translate } from '../../dialects/dialects.js';
import { parsePatch } from '../../display/diff.js';
import { loadHighlighter } from '../../display/syntax.js';
import { readRecording } from '../../events/transcript-reader.js';
import { readCallback } from '../../protocol/callbacks.js';
import type { Warning } from '../../protocol/requirements.js';
import { quote } from '../../render/line.js';
import { warningText } from '../../render/outputs/trouble.js';
import { colourLevel } from '../../render/terminal/colour-level.js';
import { runsOf, svgLines } from '../../render/terminal/svg.js';
import { createTheme } from '../../render/terminal/theme.js';
import { counted } from '../../render/warnings.js';
import { createFile, EVERYBODY_MAY_READ } from '../../system/files.js';
import { keepHeapTight, keepNewspaceSmall } from '../../system/process.js';
import { isClosed, writeOut } from '../../system/streams.js';
import { ProtocolCliError } from '../../util/errors.js';
import { type JsonReading, lossyNumberNotes, parseJson } from '../../util/json.js';
import { jsonParts, onOneLine, prettyJson } from '../../util/json-format.js';
import { readJsonOnce } from '../../util/json-once.js';
import { safeJson, safeSource } from '../../util/redact.js';
import { byteLines, decodeUtf8, firstOf } from '../../util/text.js';
import { isRecord } from '../../util/values.js';
import { requireScreen, usage } from '../options.js';
import { MAX_SAVED_BYTES, readSource } from '../read-source.js';
import { jsonTrouble } from '../target.js';
import type { ExitStatus, Terminal } from '../terminal.js';
import { KINDS } from './kinds.js';
import {
  type CallSelection,
  drawingsIn,
  InvalidJson,
  type Json,
  type Kind,
  type Look,
  messagesOf,
  numbered,
  rowsOf,
  type Saved,
  type SavedAnswer,
  type Section,
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
  keepHeapTight();
  keepNewspaceSmall();
  const name = file === '-' ? 'standard input' : file;
  const bytes = await readSource(file, stdin, MAX_SAVED_BYTES);
  const to = as === 'svg' ? undefined : as;
  const kept = to ? Uint8Array.from(bytes) : new Uint8Array(); // `recognise` consumes the bytes
  const text = () => new TextDecoder().decode(kept).trim();
  const view = { supports, isPrivate: stdout.isTTY === true && as === undefined };
  const whole = await recognise({ name, bytes, text, dialect }, view);
  const saved = call === undefined && !failed ? whole : selected(whole, name, options);
  let status: ExitStatus = 0;
  let warnings: readonly Warning[] = [];
  if (to) {
    const written = translated(saved, to, name, text);
    await writeLines(written.lines, save, stdout);
    warnings = counted(written.losses.map(message => ({ message })));
  } else if (output === 'json') await writeOut(stdout, `${safeJson(saved.report, 2)}\n`);
  else status = await show(saved, name, options, terminal);
  for (const warning of [...warnings, ...problemsOf(name, saved)]) stderr.write(warningText(warning));
  return status;
}

function refuseContradictions({ as, save, output }: RenderOptions, terminal: Terminal): void {
  requireScreen(output, terminal);
  if (save !== undefined && as === undefined)
    throw usage('--save needs --as svg or --as <dialect>', 'To save text, use > file.');
  if (as !== undefined && output !== 'plain') throw usage(`--as and -o ${output} exclude each other`);
}

function selected(saved: Saved, name: string, selection: CallSelection): Saved {
  if (saved.only) return saved.only(selection);
  throw usage(`--call and --failed need a transcript; ${name} is not one`);
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

/** 256 colours: enough for code, and what an SVG supports. */
const RICH = 2;

const PIPE_WIDTH = 80;

const PICTURE_WIDTH = 100;

/** Shows the sections as text, as an image, or full screen. */
async function show(
  { sections }: Saved,
  name: string,
  options: RenderOptions,
  terminal: Terminal,
): Promise<ExitStatus> {
  const { stdout } = terminal;
  const { output, save, as, unfold: isUnfolded = false } = options;
  const level = as ? RICH : levelOf(options, terminal);
  const drawings = sections.flatMap(drawingsIn);
  const highlighter = level >= RICH ? await loadHighlighter(drawings) : null;
  const natural = as ? PICTURE_WIDTH : (stdout.isTTY && stdout.columns) || PIPE_WIDTH;
  const { width = natural } = options;
  const look = { width, theme: createTheme(level), isUnfolded, highlighter };
  if (output === 'ui') {
    const { showFullScreen } = await import('./pager.js');
    const rowsFor = (columns: number) => rowsOf(sections, { ...look, width: columns });
    return showFullScreen(name, rowsFor, look.theme, terminal);
  }
  await writeLines(as ? pictureLines(sections, look) : rowsOf(sections, look), save, stdout);
  return 0;
}

/** `--color` takes precedence over the environment. */
function levelOf({ color }: RenderOptions, { stdout, env }: Terminal) {
  const isTTY = stdout.isTTY === true;
  if (color !== true) return colourLevel({ env, isTTY, noColor: color === false });
  const { NO_COLOR: _, ...others } = env;
  return colourLevel({ env: { ...others, FORCE_COLOR: 'true' }, isTTY, noColor: false });
}

/** Returns the lines of an SVG. The rows are laid out twice, since an SVG begins with its height. */
function pictureLines(sections: readonly Section[], look: Look): Iterable<string> {
  let height = 0;
  for (const _ of rowsOf(sections, look)) height++;
  function* rows() {
    for (const row of rowsOf(sections, look)) yield runsOf(row);
  }
  return svgLines({ columns: look.width, height, rows: rows(), title: 'protocol-cli' });
}

/** Characters per write. The first write is small, so that a screenful appears immediately. */
const FIRST_CHUNK = 4 * 1024;

const CHUNK = 64 * 1024;

/** Writes to a stream, or a file completely or not at all (threats, rows 26 and 27). @throws ProtocolCliError `unwritable-file`. */
async function writeLines(
  lines: Iterable<string>,
  path: string | undefined,
  stream: NodeJS.WritableStream,
): Promise<void> {
  if (path === undefined) return streamLines(lines, stream);
  const file = await createFile(path, EVERYBODY_MAY_READ);
  try {
    for (const line of lines) await file.write(line);
    await file.commit();
  } catch (error) {
    await file.discard();
    throw error;
  }
}

/** Writes as fast as the reader reads, and stops when the reader is gone (threats, row 30). */
async function streamLines(lines: Iterable<string>, stream: NodeJS.WritableStream): Promise<void> {
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

/** The input to show. */
interface Source {
  /** Used in messages. */
  readonly name: string;
  /** Consumed by reading: callers must not use them afterwards. */
  readonly bytes: Uint8Array;
  /** Returns the original text; called only for answers of `--as`. */
  text(): string;
  /** Null for any dialect. */
  readonly dialect: DialectName | null;
}

/** How many bytes are read to detect the format of a file. */
const HEAD = 256 * 1024;

/** Maximum number of errors shown; the rest appear when these are fixed. */
const MAX_FAULTS = 8;

// Names with articles, for messages.
const DIFF = 'a unified diff';

const TRANSCRIPT = 'a transcript (--save, -o ndjson)';

const SEVERAL = 'several of these: a list, or a line for each';

/**
 * Detects the format of bytes.
 * @throws ProtocolCliError `unreadable-file` with the formats that were tried and the closest one, each error with its place.
 */
async function recognise(source: Source, view: View): Promise<Saved> {
  const { name, bytes } = source;
  const head = new TextDecoder().decode(bytes.subarray(0, HEAD));
  if (head.trim() === '' && bytes.length <= HEAD) throw unreadable(source, 'it is empty');
  const transcript = readRecording(name, bytes);
  if (transcript) {
    const { events, faults } = transcript;
    if (events.length === 0 && faults.length > 0) throw invalid(name, TRANSCRIPT, faults);
    return new SavedTranscript(transcript, view.supports);
  }
  return /^\s*[{[]/.test(head) ? recogniseJson(source, view) : recogniseText(source);
}

async function recogniseJson(source: Source, view: View): Promise<Saved> {
  const kinds = kindsOf(source);
  const reading = readJsonOnce(source.bytes);
  let parts: Json['source'] | undefined;
  const written: Json['source'] = path => {
    parts ??= jsonParts(source.text());
    return parts(path);
  };
  const json = reading.ok ? { ...reading, source: written } : null;
  const kind = json && kindOf(json.value, kinds);
  const what = kind?.name ?? SEVERAL;
  try {
    if (json && kind) return await kind.read(json, view);
    const parts = json ? itemsOf(json) : linesIn(source.bytes);
    const several = await readSeveral(parts, json?.notes ?? [], kinds, view);
    if (several) return several;
  } catch (error) {
    throw error instanceof InvalidJson ? invalid(source.name, what, error.faults) : error;
  }
  if (!reading.ok) throw unreadable(source, 'invalid JSON', [jsonTrouble(source.bytes, reading.reason)]);
  throw unreadable(source, 'unrecognized format', whyNoCallback(reading.value));
}

function invalid(file: string, name: string, faults: readonly string[]): ProtocolCliError {
  const message = `cannot show ${file}: it looks like ${withoutExamples(name)} but is not valid`;
  return new ProtocolCliError('unreadable-file', message, { faults: firstOf(faults, MAX_FAULTS) });
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

/** Returns the kind that an object looks like; null if unknown. */
function kindOf(value: unknown, kinds: readonly Kind[]): Kind | null {
  return isRecord(value) ? (kinds.find(each => each.isMeant(value)) ?? null) : null;
}

/** Returns why an object is not a callback, if it has members of one. */
function whyNoCallback(value: unknown): string[] {
  if (!isRecord(value)) return [`$: must be an object${Array.isArray(value) ? ', not a list' : ''}`];
  const reading = readCallback({ ok: true, value, notes: [] });
  if (reading.ok || !('type' in value || 'group_id' in value)) return [];
  return ['closest match: a callback, but:', ...firstOf(reading.faults, MAX_FAULTS)];
}

function withoutExamples(name: string): string {
  return name.replace(/ \(.*\)$|:.*$/, '');
}

/** A part of a file. */
interface Part {
  readonly json: Json | Extract<JsonReading, { ok: false }>;
  /** Adds the place of the part to an error. */
  place(fault: string): string;
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

/** Reads a list of messages, or one per line, as `--as` writes them. Returns null if the first is not a known object. */
async function readSeveral(
  parts: Iterable<Part>,
  notes: readonly string[],
  kinds: readonly Kind[],
  view: View,
): Promise<Saved | null> {
  const all: Saved[] = [];
  const faults: string[] = [];
  for (const part of parts) {
    const isFirst = all.length + faults.length === 0;
    if (isFirst && !(part.json.ok && kindOf(part.json.value, kinds))) return null;
    const read = await readPart(part, kinds, view);
    if ('report' in read) all.push(read);
    else faults.push(...read.faults.map(part.place));
  }
  if (faults.length > 0) throw new InvalidJson(faults);
  if (all.length === 0) return null;
  return saved(
    'messages',
    numbered(
      'MESSAGE',
      all.map(each => each.sections),
    ),
    { messages: all.map(each => each.report) },
    messagesOf(notes),
    to => all.flatMap(each => each.answers?.(to) ?? []),
  );
}

async function readPart({ json }: Part, kinds: readonly Kind[], view: View): Promise<Saved | InvalidJson> {
  if (!json.ok) return new InvalidJson([json.reason]);
  try {
    return (await kindOf(json.value, kinds)?.read(json, view)) ?? new InvalidJson(['$: unrecognized format']);
  } catch (error) {
    if (error instanceof InvalidJson) return error;
    throw error;
  }
}

/** Matches where the first file of a diff begins; the text before it, such as the message of `git show`, is prose. */
const START = /^(?:diff --git |Index: |--- .*\n\+\+\+ |@@ -\d)/m;

/** Colour codes that git writes with `color.ui = always`. */
const COLOURS = /\p{Cc}\[[\d;]*[mK]/gu;

function recogniseText(source: Source): Saved {
  const text = decodeUtf8(source.bytes);
  if (text === null) throw unreadable(source, 'it is not valid UTF-8', [], encodingHint(source.bytes));
  const diff = [text, text.replace(COLOURS, '')].find(each => START.test(each));
  if (diff === undefined || source.dialect !== null) throw unreadable(source, 'unrecognized format');
  return readDiff(diff, source.name);
}

/** Redirections in PowerShell write UTF-16. */
function encodingHint([first, second]: Uint8Array): string {
  const isUtf16 = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  return isUtf16 ? 'It looks like UTF-16: save it as UTF-8.' : 'Is it compressed, or a picture?';
}

/** Reads a unified diff, as `git diff` and `git show` print it. */
function readDiff(text: string, name: string): Saved {
  const start = text.search(START);
  const [prose, raw] = [text.slice(0, start), text.slice(start)];
  const parsed = parsePatch(raw);
  if (!parsed.ok) {
    const before = prose.split('\n').length - 1;
    const reason = parsed.reason.replace(/^line (\d+)/, (_, line: string) => `line ${Number(line) + before}`);
    throw invalid(name, DIFF, [reason]);
  }
  const { files, added, removed } = parsed.diff;
  const lines = prose.trim() === '' ? [] : prose.trim().split('\n');
  return saved(
    'diff',
    [lines.map(line => quote(line)), { kind: 'diff', path: '', diff: parsed.diff, raw }],
    {
      files: files.map(({ hunks, oldPath, newPath, kind, added: plus, removed: minus }) => ({
        ...{ oldPath, newPath, kind },
        hunks: hunks.length,
        added: plus,
        removed: minus,
      })),
      ...{ added, removed },
    },
    parsed.recounted.map(message => ({ id: 'TOOL-DIFF', message })),
  );
}

/** An answer as JSON of another system, and what was lost. */
interface Written {
  readonly line: string;
  readonly losses: readonly string[];
}

/**
 * Converts the answers of a saved file to another system: one object, or one per line. If the system is the same, the original JSON is
 * kept to the last digit.
 * @throws ProtocolCliError `usage` without any
 */
function translated(saved: Saved, to: DialectName, name: string, text: () => string) {
  const answers = saved.answers?.(to) ?? [];
  if (answers.length === 0)
    throw usage(
      `no tool result in ${name} that --as ${to} can write`,
      'A tool_result, a report, a transcript, a settled call, a ToolCallResult and a CallToolResult hold one.',
    );
  const isOnly = answers.length === 1;
  const written = answers.map((answer): Written => {
    const source = answer.source?.() ?? null;
    if (answer.dialect !== to || source === null) return converted(to, answer, source, isOnly ? 2 : 0);
    const pretty = source === text() ? source : (prettyJson(source) ?? source);
    return { line: safeSource(isOnly ? pretty : onOneLine(source)), losses: emptyIds(answer.native, to) };
  });
  return { lines: written.map(({ line }) => line), losses: written.flatMap(({ losses }) => losses) };
}

/** @param source the original JSON of the answer @param indent spaces; 0 for one line */
function converted(to: DialectName, from: SavedAnswer, source: string | null, indent: number): Written {
  const { native, answer, dialect } = from;
  const { body, warnings } = answer
    ? translate({ answer, native, ...(dialect && { dialect }) }, to)
    : { body: native, warnings: [] };
  const { title } = dialectOf(to);
  const numbers = lossyNumbers(from, source).map(note => `${title} gets another number: ${note}`);
  const losses = [...warnings.map(({ message }) => message), ...emptyIds(body, to), ...numbers];
  return { line: safeJson(body, indent), losses };
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
