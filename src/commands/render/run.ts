import type { DialectName } from '../../dialects/dialect.js';
import { dialectOf, translate } from '../../dialects/dialects.js';
import { loadHighlighter } from '../../display/syntax/load.js';
import type { Warning } from '../../protocol/requirements.js';
import { warningText } from '../../render/outputs/trouble.js';
import { colourLevel } from '../../render/terminal/colour-level.js';
import { runsOf, svgLines } from '../../render/terminal/svg.js';
import { createTheme } from '../../render/terminal/theme.js';
import { counted } from '../../render/warnings.js';
import { createFile, EVERYBODY_MAY_READ } from '../../system/files.js';
import { keepHeapTight, keepNewspaceSmall } from '../../system/heap.js';
import { isClosed, writeOut } from '../../system/streams.js';
import { lossyNumberNotes, parseJson } from '../../util/json.js';
import { jsonParts, onOneLine, prettyJson } from '../../util/json-format.js';
import { safeJson, safeSource } from '../../util/redact.js';
import { isRecord } from '../../util/values.js';
import { usage } from '../options.js';
import { LARGEST_SAVED, readSource } from '../read-source.js';
import { canDraw, type ExitStatus, type Terminal } from '../terminal.js';
import { recognise } from './recognise.js';
import { drawingsOf, type Look, rowsOf } from './rows.js';
import { type CallSelection, messagesOf, type Saved, type SavedAnswer, type Section } from './saved.js';

export interface RenderOptions extends CallSelection {
  readonly dialect?: DialectName;
  readonly supports: ReadonlySet<string>;
  readonly output: 'ui' | 'plain' | 'json';
  readonly as?: 'svg' | DialectName;
  readonly save?: string;
  readonly width?: number;
  readonly unfold?: boolean;
  /** Undefined: as the terminal and the environment say. */
  readonly color?: boolean;
}

/** `render`: reads, detects the format, and shows. */
export async function runRender(
  file: string,
  options: RenderOptions,
  terminal: Terminal,
): Promise<ExitStatus> {
  const { as, dialect = null } = options;
  refuseContradictions(options, terminal);
  keepHeapTight();
  keepNewspaceSmall();
  const name = file === '-' ? 'standard input' : file;
  const bytes = await readSource(file, terminal.stdin, LARGEST_SAVED);
  const isTranslated = as !== undefined && as !== 'svg';
  const kept = isTranslated ? Uint8Array.from(bytes) : new Uint8Array(); // `recognise` uses the bytes up
  const saved = selected(await recognise({ name, bytes, dialect }), name, options);
  const text = () => new TextDecoder().decode(kept).trim();
  let status: ExitStatus = 0;
  if (isTranslated) await showAs(as, saved, { name, text }, options, terminal);
  else status = await show(saved, name, options, terminal);
  for (const warning of problemsOf(name, saved)) terminal.stderr.write(warningText(warning));
  return status;
}

function refuseContradictions({ as, save, output }: RenderOptions, terminal: Terminal): void {
  if (output === 'ui' && !canDraw(terminal))
    throw usage('-o ui needs a terminal of at least 40×8 on stdin and stdout, outside CI', 'Use -o plain.');
  if (save !== undefined && as === undefined)
    throw usage('--save needs --as svg or --as <dialect>', 'To save text, use > file.');
  if (as !== undefined && output !== 'plain') throw usage(`--as and -o ${output} exclude each other`);
}

function selected(saved: Saved, name: string, { call, failed }: CallSelection): Saved {
  if (call === undefined && failed === undefined) return saved;
  const selection = { ...(call !== undefined && { call }), ...(failed !== undefined && { failed }) };
  if (saved.only) return saved.only(selection);
  throw usage(`--call and --failed need a transcript; ${name} is not one`);
}

function problemsOf(name: string, { faults = [], losses = [] }: Saved): Warning[] {
  const [first] = losses;
  const unread = `${faults.length} line${faults.length === 1 ? '' : 's'} of ${name} could not be read; what could be is shown`;
  const more = losses.length > 1 ? `; and ${losses.length - 1} more` : '';
  return messagesOf([
    ...(faults.length > 0 ? [unread] : []),
    ...(first === undefined ? [] : [`${name} is not whole: ${first}${more}`]),
  ]);
}

/** 256 colours: enough for code, and what a picture has. */
const RICH = 2;

const PIPE_WIDTH = 80;

const PICTURE_WIDTH = 100;

async function show(
  saved: Saved,
  name: string,
  options: RenderOptions,
  terminal: Terminal,
): Promise<ExitStatus> {
  const { stdout } = terminal;
  const { output, save, supports, unfold: isUnfolded = false } = options;
  const isPicture = options.as === 'svg';
  const view = { supports, isPrivate: stdout.isTTY === true && !isPicture };
  if (output === 'json') {
    await writeOut(stdout, `${safeJson(saved.report(view), 2)}\n`);
    return 0;
  }
  const sections = saved.sections(view);
  const level = isPicture ? RICH : levelOf(options, terminal);
  const highlighter = level >= RICH ? await loadHighlighter(drawingsOf(sections)) : null;
  const natural = isPicture ? PICTURE_WIDTH : (stdout.isTTY && stdout.columns) || PIPE_WIDTH;
  const { width = natural } = options;
  const look = { width, theme: createTheme(level), isUnfolded, highlighter };
  if (output === 'ui') {
    const { showFullScreen } = await import('./pager.js');
    return showFullScreen(
      name,
      columns => rowsOf(sections, { ...look, width: columns }),
      look.theme,
      terminal,
    );
  }
  await writeLines(isPicture ? pictureLines(sections, look) : rowsOf(sections, look), save, stdout);
  return 0;
}

/** In another system's format, with warnings about lost parts. */
async function showAs(
  to: DialectName,
  saved: Saved,
  origin: Origin,
  { save }: RenderOptions,
  { stdout, stderr }: Terminal,
): Promise<void> {
  const { lines, warnings } = translated(saved, to, origin);
  await writeLines(lines, save, stdout);
  for (const warning of counted(warnings)) stderr.write(warningText(warning));
}

/** `--color` comes before the environment. */
function levelOf({ color }: RenderOptions, { stdout, env }: Terminal) {
  const isTTY = stdout.isTTY === true;
  if (color !== true) return colourLevel({ env, isTTY, noColor: color === false });
  const { NO_COLOR: _, ...others } = env;
  return colourLevel({ env: { ...others, FORCE_COLOR: 'true' }, isTTY, noColor: false });
}

/** The lines of an SVG. The rows are laid out twice, since a picture begins with its height. */
function pictureLines(sections: readonly Section[], look: Look): Iterable<string> {
  let height = 0;
  for (const _ of rowsOf(sections, look)) height++;
  function* rows() {
    for (const row of rowsOf(sections, look)) yield runsOf(row);
  }
  return svgLines({ columns: look.width, height, rows: rows(), title: 'protocol-cli' });
}

/** Characters written at once; the first ones do not wait for more than a screenful. */
const FIRST_CHUNK = 4 * 1024;

const CHUNK = 64 * 1024;

/** Writes a file whole or not at all (threats, rows 26 and 27), or to a stream. @throws ProtocolCliError `unwritable-file`. */
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

/** Piece by piece, as the reader takes them; no further once it has gone (threats, row 30). */
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

/** Answers as JSON of another system. */
interface Translated {
  /** One object, or a line for each of several. */
  readonly lines: readonly string[];
  /** What got lost. */
  readonly warnings: readonly Warning[];
}

/** The file of an answer. */
interface Origin {
  /** For messages. */
  readonly name: string;
  /** All of its JSON, as it was written. */
  text(): string;
}

/**
 * The answers of a saved file, for another system; for their own one as they were written, to the last digit.
 * @throws ProtocolCliError `usage` if absent
 */
export function translated(saved: Saved, to: DialectName, origin: Origin): Translated {
  const answers = saved.answers?.(to) ?? [];
  if (answers.length === 0)
    throw usage(
      `no tool result in ${origin.name} that --as ${to} can write`,
      'A tool_result, a report, a transcript, a settled call, a ToolCallResult and a CallToolResult hold one.',
    );
  let part: ReturnType<typeof jsonParts> | undefined;
  const sourceOf = ({ at, source }: SavedAnswer) => {
    if (source !== undefined || at === undefined) return source ?? null;
    part ??= jsonParts(origin.text());
    return part(at);
  };
  const all = answers.map(answer => writtenAs(to, answer, sourceOf(answer), answers.length === 1));
  return { lines: all.map(({ line }) => line), warnings: messagesOf(all.flatMap(({ losses }) => losses)) };
}

/** @param source the JSON of the answer as it was written @param isOnly whether it may take more than a line */
function writtenAs(to: DialectName, answer: SavedAnswer, source: string | null, isOnly: boolean) {
  if (answer.dialect === to && source !== null) {
    const isWhole = answer.at?.length === 0;
    const line = isOnly ? ((isWhole ? null : prettyJson(source)) ?? source) : onOneLine(source);
    return { line: safeSource(line), losses: emptyIds(answer.native, to) };
  }
  const { native, answer: said, dialect } = answer;
  const { body, warnings } = said
    ? translate({ answer: said, native, ...(dialect && { dialect }) }, to)
    : { body: native, warnings: [] };
  const numbers = lossyNumbers(answer, source).map(
    note => `${dialectOf(to).title} gets another number: ${note}`,
  );
  return {
    line: safeJson(body, isOnly ? 2 : undefined),
    losses: [...warnings.map(({ message }) => message), ...emptyIds(body, to), ...numbers],
  };
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

/** Numbers that reading changed. LM-Kit has its payload as a text, which is read too. */
function lossyNumbers({ dialect, native }: SavedAnswer, source: string | null): readonly string[] {
  const payload = dialect === 'lmkit' && isRecord(native) ? native['ResultJson'] : undefined;
  const isRead = typeof payload === 'string' && parseJson(payload).ok;
  return [...lossyNumberNotes(source ?? ''), ...(isRead ? lossyNumberNotes(payload) : [])];
}
