import type { DialectName } from '../../dialects/dialect.js';
import { dialectOf, translate } from '../../dialects/dialects.js';
import type { Drawing } from '../../display/segments.js';
import { loadHighlighter } from '../../display/syntax/load.js';
import type { Content } from '../../events/content.js';
import type { Event, RequestEvent } from '../../events/events.js';
import type { Warning } from '../../protocol/requirements.js';
import { requestWords, responseWords } from '../../render/calls.js';
import { type Layout, type Line, quote, say, textLines } from '../../render/line.js';
import { warningText } from '../../render/outputs/trouble.js';
import { paneLines as paneWindow, wholeDiff } from '../../render/pane-lines.js';
import type { Pane } from '../../render/panes.js';
import { type ColourLevel, colourLevel } from '../../render/terminal/colour-level.js';
import { runsOf, svgLines } from '../../render/terminal/svg.js';
import { createTheme, paneLayout, sideBySide, type Theme, wrapLine } from '../../render/terminal/theme.js';
import { bodyText, breakText } from '../../render/toolset.js';
import { counted } from '../../render/warnings.js';
import { createFile, EVERYBODY_MAY_READ } from '../../system/files.js';
import { isClosed, writeOut } from '../../system/streams.js';
import { keepHeapTight, keepNewspaceSmall } from '../../system/watch-files.js';
import { ProtocolCliError } from '../../util/errors.js';
import { formatDuration } from '../../util/format-duration.js';
import { parseJson } from '../../util/json.js';
import { isRecord, lossyNumberNotes } from '../../util/json-diagnosis.js';
import { prettyJson } from '../../util/json-pretty.js';
import { jsonParts, onOneLine } from '../../util/json-text.js';
import type { Redactor } from '../../util/redact.js';
import { safeJson, safeSource } from '../../util/redact-json.js';
import { LARGEST_SAVED, readSource } from '../read-source.js';
import type { ExitStatus, Terminal } from '../terminal.js';
import { recognise } from './recognise.js';
import {
  type CallSelection,
  drawingsOf,
  type Saved,
  type SavedAnswer,
  type Section,
  type View,
} from './transcripts.js';

/** Characters of a text made into a line at once; a longer line goes on in the next one. */
const PIECE = 3_000;

/** How drawings are laid out; all of each is wanted. */
type WholeLayout = Omit<Layout, 'from' | 'count'> & { readonly width: number };

/** A pane whole: its heading, its notes, its drawing, each line made when it is asked for. */
export function* wholePane(pane: Pane, layout: WholeLayout): Generator<Line> {
  yield* paneWindow({ ...pane, drawing: NOTHING }, { count: 0 }).lines;
  yield* wholeDrawing(pane.drawing, layout);
}

const NOTHING: Drawing = { kind: 'text', text: '' };

/** A drawing whole, likewise. */
export function* wholeDrawing(drawing: Drawing, layout: WholeLayout): Generator<Line> {
  if (drawing.kind === 'diff') yield* wholeDiff(drawing.diff, layout);
  else for (const piece of piecesOf(drawing.text, layout.width)) yield* textLines(piece, 1).lines;
}

/** The lines of a text, none longer than is shown whole. */
function* piecesOf(text: string, width: number): Generator<string> {
  const longest = Math.max(width, PIECE - (PIECE % width));
  for (let from = 0; from < text.length || from === 0; ) {
    const feed = text.indexOf('\n', from);
    const end = feed < 0 ? text.length : feed;
    do {
      const cut = Math.min(end, wholeCharacters(text, from + longest));
      yield text.slice(from, cut);
      from = cut;
    } while (from < end);
    from = end + 1;
  }
}

/** Half of a surrogate pair would be shown as something hidden. */
function wholeCharacters(text: string, end: number): number {
  return (text.codePointAt(end - 1) ?? 0) > 0xffff ? end + 1 : end;
}

type End = Extract<Event, { kind: 'response' | 'broken' }>;

/** Every message of a call, whole, with its answer: each line is made when it is asked for. Secrets out. */
function* messageLines(events: readonly Event[], redactor: Redactor, layout: WholeLayout): Generator<Line> {
  const ends = new Map<string, End>();
  for (const event of events)
    if (event.kind === 'response' || event.kind === 'broken') ends.set(event.leg, event);
  let isFirst = true;
  for (const event of events) {
    if (event.kind !== 'request' || event.purpose === 'discovery') continue;
    yield isFirst ? TITLE : [];
    isFirst = false;
    const end = ends.get(event.leg);
    yield [...requestWords(event, redactor), say('  '), ...endWords(event, end, redactor)];
    yield* bodyLines(event.body, INDENT, redactor, layout);
    if (end?.kind === 'response') yield* bodyLines(end.body, ANSWER, redactor, layout);
  }
}

const TITLE: Line = [say('MESSAGES', 'title')];
const INDENT = say('  ', 'gutter');
const ANSWER = say('  < ', 'gutter');

function endWords({ at }: RequestEvent, end: End | undefined, redactor: Redactor): Line {
  if (!end) return [say('not answered', 'warn')];
  const took = say(` after ${formatDuration(Math.max(0, end.at - at))}`, 'dim');
  if (end.kind === 'response') return [...responseWords(end, redactor), took];
  return [...quote(breakText(end), 'bad'), took];
}

function* bodyLines(
  body: Content | undefined,
  margin: Line[number],
  redactor: Redactor,
  layout: WholeLayout,
): Generator<Line> {
  const text = bodyText(body, redactor);
  if (text === null) return;
  const width = Math.max(1, layout.width - margin.text.length);
  const drawing = { kind: 'text', text: prettyJson(text) ?? text } as const;
  for (const line of wholeDrawing(drawing, { ...layout, width })) yield [margin, ...line];
}

/** How rows are made. */
interface Look extends WholeLayout {
  readonly theme: Theme;
}

/** What is shown, row by row, made as they are asked for: the first one is there before the last is thought of. */
export function* rowsOf(sections: readonly Section[], look: Look): Generator<string> {
  let isFirst = true;
  for (const section of sections) {
    let isBegun = false;
    for (const row of sectionRows(section, look)) {
      if (!isBegun && !isFirst) yield '';
      isBegun = true;
      isFirst = false;
      yield row;
    }
  }
}

function sectionRows(section: Section, look: Look): Generator<string> {
  switch (section.kind) {
    case 'lines':
      return wrapped(section.lines, look);
    case 'messages':
      return wrapped(messageLines(section.events, section.redactor, look), look);
    case 'drawing':
      return wrapped(wholeDrawing(section.drawing, look), look);
    case 'pane':
      return paneRows(section.pane, look);
    case 'panes':
      return bothPanes(section.human, section.llm, look);
  }
}

function* bothPanes(human: Pane, llm: Pane, look: Look): Generator<string> {
  const { isSideBySide, width } = paneLayout(look.width);
  const [left, right] = [paneRows(human, { ...look, width }), paneRows(llm, { ...look, width })];
  if (isSideBySide) yield* beside(left, right, width);
  else {
    yield* left;
    yield '';
    yield* right;
  }
}

/** Row by row; the left one alone is not filled up. */
function* beside(left: Iterator<string>, right: Iterator<string>, width: number): Generator<string> {
  for (;;) {
    const [one, other] = [left.next(), right.next()];
    if (one.done && other.done) return;
    if (other.done) yield one.value;
    else yield* sideBySide(one.done ? [] : [one.value], [other.value], width);
  }
}

function paneRows(pane: Pane, look: Look): Generator<string> {
  return wrapped(wholePane(pane, look), look);
}

function* wrapped(lines: Iterable<Line>, { width, theme }: Look): Generator<string> {
  for (const line of lines) yield* wrapLine(line, width, theme);
}

/** 256 colours: enough for code, and what a picture has. */
const RICH = 2;
const PIPE_WIDTH = 80;
const PICTURE_WIDTH = 100;

interface LookOptions {
  readonly width?: number;
  readonly unfold?: boolean;
  /** Undefined: as the terminal and the environment say. */
  readonly color?: boolean;
}

/** Options for text rows. */
async function lookOf(sections: readonly Section[], options: LookOptions, terminal: Terminal): Promise<Look> {
  const level = levelOf(options, terminal);
  const { unfold: isUnfolded = false } = options;
  const highlighter = level >= RICH ? await loadHighlighter(drawingsOf(sections)) : null;
  return { width: widthOf(options, terminal), theme: createTheme(level), isUnfolded, highlighter };
}

/** How those of a picture are made. */
async function pictureLook(
  sections: readonly Section[],
  { width = PICTURE_WIDTH, unfold: isUnfolded = false }: LookOptions,
): Promise<Look> {
  const highlighter = await loadHighlighter(drawingsOf(sections));
  return { width, theme: createTheme(RICH), isUnfolded, highlighter };
}

function widthOf({ width }: LookOptions, { stdout }: Terminal): number {
  return width ?? ((stdout.isTTY && stdout.columns) || PIPE_WIDTH);
}

/** What is asked for by `--color` counts before the environment. */
function levelOf({ color }: LookOptions, { stdout, env }: Terminal): ColourLevel {
  const isTTY = stdout.isTTY === true;
  if (color !== true) return colourLevel({ env, isTTY, noColor: color === false });
  const { NO_COLOR: _, ...others } = env;
  return colourLevel({ env: { ...others, FORCE_COLOR: 'true' }, isTTY, noColor: false });
}

/** What is shown as the lines of an SVG. The rows are laid out twice, since a picture says its height first. */
function pictureLines(sections: readonly Section[], look: Look): Iterable<string> {
  let height = 0;
  for (const _ of rowsOf(sections, look)) height++;
  return svgLines({ columns: look.width, height, rows: runs(rowsOf(sections, look)), title: 'protocol-cli' });
}

function* runs(rows: Iterable<string>) {
  for (const row of rows) yield runsOf(row);
}

/** Writes a file whole or not at all (threats, rows 26 and 27). @throws ProtocolCliError `unwritable-file`. */
async function saveLines(path: string, lines: Iterable<string>): Promise<void> {
  const file = await createFile(path, EVERYBODY_MAY_READ);
  try {
    for (const line of lines) await file.write(line);
    await file.commit();
  } catch (error) {
    await file.discard();
    throw error;
  }
}

/** Characters written at once; a screenful does not wait for more. */
const FIRST_CHUNK = 4 * 1024;
const CHUNK = 64 * 1024;

/** Lines into a file where one is named, else to a stream. @throws ProtocolCliError `unwritable-file`. */
function putLines(
  lines: Iterable<string>,
  path: string | undefined,
  stream: NodeJS.WritableStream,
): Promise<void> {
  return path === undefined ? writeLines(stream, lines) : saveLines(path, lines);
}

/** Piece by piece, as the reader takes them; no further once it has gone (threats, row 30). */
async function writeLines(stream: NodeJS.WritableStream, lines: Iterable<string>): Promise<void> {
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

/** Answers on another wire. */
interface Translated {
  /** One object, or a line for each of several. */
  readonly lines: readonly string[];
  /** What got lost. */
  readonly warnings: readonly Warning[];
}

/** Where a saved thing is from. */
interface Origin {
  /** For a message. */
  readonly name: string;
  /** All of its JSON, as it was written; asked for where an answer says that it stands in it. */
  text(): string;
}

/**
 * The answers that a saved thing holds, as JSON of another wire; on their own one as they were written, to the last digit.
 * @throws ProtocolCliError `usage` where it holds none
 */
export function translated(saved: Saved, to: DialectName, origin: Origin): Translated {
  const answers = saved.answers?.(to) ?? [];
  if (answers.length === 0)
    throw new ProtocolCliError('usage', `no tool result in ${origin.name} that --as ${to} can write`, {
      hint: 'A tool_result, a report, a transcript, a settled call, a ToolCallResult and a CallToolResult hold one.',
    });
  const sourceOf = sourcesIn(origin);
  const isOnly = answers.length === 1;
  const writings = answers.map(answer => written(answer, to, { source: sourceOf(answer), isOnly }));
  return {
    lines: writings.map(({ line }) => line),
    warnings: writings.flatMap(({ losses }) => losses.map(message => ({ message }))),
  };
}

function sourcesIn(origin: Origin): (answer: SavedAnswer) => string | null {
  let part: ReturnType<typeof jsonParts> | undefined;
  return ({ at, source }) => {
    if (source !== undefined || at === undefined) return source ?? null;
    part ??= jsonParts(origin.text());
    return part(at);
  };
}

interface Form {
  /** The original JSON of the answer; null if there is none. */
  readonly source: string | null;
  /** Whether it may take more than a line. */
  readonly isOnly: boolean;
}

function written(answer: SavedAnswer, to: DialectName, { source, isOnly }: Form) {
  if (answer.dialect === to && source !== null) {
    const isWhole = answer.at?.length === 0;
    const line = isOnly ? ((isWhole ? null : prettyJson(source)) ?? source) : onOneLine(source);
    return { line: safeSource(line), losses: emptyIds(answer.native, to) };
  }
  const { body, losses } = 'answer' in answer ? translate(answer, to) : { body: answer.native, losses: [] };
  const numbers = lossyNumbers(answer, source).map(
    note => `${dialectOf(to).title} gets another number: ${note}`,
  );
  return {
    line: safeJson(body, isOnly ? 2 : undefined),
    losses: [...losses.map(({ message }) => message), ...emptyIds(body, to), ...numbers],
  };
}

/** Without them a runtime cannot match the result to a call (TOOL-ID, TOOL-GROUP). */
function emptyIds(body: unknown, to: DialectName): string[] {
  if (to !== 'rap' || !isRecord(body)) return [];
  const empty = ['id', 'group_id'].filter(name => body[name] === '');
  return empty.length === 0
    ? []
    : [
        `${empty.join(' and ')} ${empty.length === 1 ? 'is' : 'are'} empty: fill in the ids of the invocation, or no runtime will match this result`,
      ];
}

/** What reading made another number of; LM-Kit has its payload as a text, which is read too. */
function lossyNumbers({ dialect, native }: SavedAnswer, source: string | null): readonly string[] {
  const payload = dialect === 'lmkit' && isRecord(native) ? native['ResultJson'] : undefined;
  const isRead = typeof payload === 'string' && parseJson(payload).ok;
  return [...lossyNumberNotes(source ?? ''), ...(isRead ? lossyNumberNotes(payload) : [])];
}

export interface RenderOptions extends LookOptions, CallSelection {
  readonly dialect?: DialectName;
  readonly supports: ReadonlySet<string>;
  readonly output: 'plain' | 'json';
  readonly as?: 'svg' | DialectName;
  readonly save?: string;
}

/** `render`: reads, sees what it is, and shows it. */
export async function runRender(
  file: string,
  options: RenderOptions,
  terminal: Terminal,
): Promise<ExitStatus> {
  refuseContradictions(options);
  keepHeapTight();
  keepNewspaceSmall();
  const { stdin, stdout, stderr } = terminal;
  const name = file === '-' ? 'standard input' : file;
  const bytes = await readSource(file, stdin, LARGEST_SAVED);
  const origin = originOf(name, bytes, options);
  const saved = selected(await recognise({ name, bytes, dialect: options.dialect ?? null }), name, options);
  const isPrivate = stdout.isTTY === true && options.as === undefined;
  if (options.as === undefined || options.as === 'svg')
    await show(saved, { supports: options.supports, isPrivate }, options, terminal);
  else await showAs(options.as, saved, { ...options, origin }, terminal);
  for (const message of troubles(name, saved)) stderr.write(warningText({ message }));
  return 0;
}

/** To see what they are uses bytes up; what goes out as it was written needs them again. */
function originOf(name: string, bytes: Uint8Array, { as }: RenderOptions): Origin {
  const kept = as === undefined || as === 'svg' ? new Uint8Array() : Uint8Array.from(bytes);
  return { name, text: () => new TextDecoder().decode(kept).trim() };
}

function selected(saved: Saved, name: string, { call, failed }: CallSelection): Saved {
  if (call === undefined && failed === undefined) return saved;
  const selection = { ...(call !== undefined && { call }), ...(failed !== undefined && { failed }) };
  if (saved.only) return saved.only(selection);
  throw new ProtocolCliError('usage', `--call and --failed need a transcript; ${name} is not one`);
}

function refuseContradictions({ as, save, output }: RenderOptions): void {
  if (save !== undefined && as === undefined)
    throw new ProtocolCliError('usage', '--save needs --as svg or --as <dialect>', {
      hint: 'To save text, use > file.',
    });
  if (as !== undefined && output === 'json')
    throw new ProtocolCliError('usage', '--as and -o json exclude each other');
}

function troubles(name: string, { faults, losses = [] }: Saved): string[] {
  const [first] = losses;
  const more = losses.length > 1 ? `; and ${losses.length - 1} more` : '';
  return [
    ...(faults.length > 0 ? [brokenText(name, faults.length)] : []),
    ...(first === undefined ? [] : [`${name} is not whole: ${first}${more}`]),
  ];
}

function brokenText(name: string, count: number): string {
  return `${count} line${count === 1 ? '' : 's'} of ${name} could not be read; what could be is shown`;
}

async function show(saved: Saved, view: View, options: RenderOptions, terminal: Terminal): Promise<void> {
  const { stdout } = terminal;
  if (options.output === 'json') return writeOut(stdout, `${safeJson(saved.report(view), 2)}\n`);
  const sections = saved.sections(view);
  if (options.as === undefined)
    return writeLines(stdout, rowsOf(sections, await lookOf(sections, options, terminal)));
  await putLines(pictureLines(sections, await pictureLook(sections, options)), options.save, stdout);
}

/** In another dialect, with warnings about lost parts. */
async function showAs(
  to: DialectName,
  saved: Saved,
  options: RenderOptions & { readonly origin: Origin },
  terminal: Terminal,
): Promise<void> {
  const { lines, warnings } = translated(saved, to, options.origin);
  await putLines(lines, options.save, terminal.stdout);
  for (const warning of counted(warnings)) terminal.stderr.write(warningText(warning));
}
