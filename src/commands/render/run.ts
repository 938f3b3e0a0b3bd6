import type { DialectName } from '../../dialects/dialect.js';
import type { Warning } from '../../protocol/requirements.js';
import { UNWRAPPED } from '../../render/line.js';
import { warningText } from '../../render/outputs/trouble.js';
import { backgroundOf } from '../../render/terminal/background.js';
import { colourLevel } from '../../render/terminal/colour-level.js';
import { pictureLines } from '../../render/terminal/svg.js';
import type { Colours } from '../../render/terminal/theme.js';
import { mergeWarnings } from '../../render/warnings.js';
import { writePublicFile } from '../../system/atomic-file.js';
import { isClosed, writeOut } from '../../system/streams.js';
import { LIMITS } from '../../util/limits.js';
import { safeJson } from '../../util/safe-json.js';
import { requireScreen, usageError } from '../options.js';
import { readSource } from '../read-source.js';
import { colourOf, type ExitStatus, linesSetting, type Terminal } from '../terminal.js';
import { Input } from './input.js';
import { layoutOf } from './layout.js';
import { type CallSelection, messagesOf, type Saved } from './saved.js';
import { translateAnswers } from './translation.js';

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

/** Runs `render`: reads the file, detects its format, and shows it, or converts it with `--as`. */
export async function runRender(
  file: string,
  options: RenderOptions,
  terminal: Terminal,
): Promise<ExitStatus> {
  const { as, dialect = null, supports, call, failed } = options;
  const { stdin, stdout, stderr } = terminal;
  refuseContradictions(options, terminal);
  const name = file === '-' ? 'standard input' : file;
  const bytes = await readSource(file, stdin, LIMITS.fileBytes.value);
  const isPrivate = stdout.isTTY === true && as === undefined;
  const input = new Input(name, bytes, dialect, { supports, isPrivate });
  const whole = await input.read();
  const selected = call === undefined && !failed ? whole : whole.only?.(options);
  if (selected === undefined) throw usageError(`--call and --failed need a transcript; ${name} is not one`);
  if (selected === null)
    stderr.write(`no ${call === undefined ? 'call of the transcript' : 'selected call'} failed\n`);
  const status = selected ? await print(selected, input, options, terminal) : 0;
  printWarnings(problemsOf(name, selected ?? whole), stderr);
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

function printWarnings(warnings: readonly Warning[], stderr: NodeJS.WritableStream): void {
  for (const warning of warnings) stderr.write(warningText(warning));
}

/** Prints the file as `--as` and `-o` say. */
async function print(
  file: Saved,
  input: Input,
  options: RenderOptions,
  terminal: Terminal,
): Promise<ExitStatus> {
  const { as, output, save } = options;
  const { stdout, stderr } = terminal;
  if (as !== undefined && as !== 'svg') {
    const { lines, losses } = translateAnswers(file, input, as);
    await writeLines(lines, save, stdout);
    printWarnings(mergeWarnings(messagesOf(losses)), stderr);
    return 0;
  }
  if (output !== 'json') return show(file, input.name, options, terminal);
  await writeOut(stdout, `${safeJson(file.report, 2)}\n`);
  return 0;
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
  if (color !== true) return { level: colourOf(stdout, { color: color !== false }, { env }), background };
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
