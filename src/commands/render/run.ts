import { loadHighlighter } from '../../display/syntax/load.js';
import { type ColourLevel, colourLevel } from '../../dress/colour-level.js';
import { createTheme } from '../../dress/theme.js';
import { ProtocolCliError } from '../../errors.js';
import { warningText } from '../../reporters/trouble.js';
import { isClosed, writeOut } from '../../system/output.js';
import { keepHeapTight, keepNewspaceSmall } from '../../system/tight-heap.js';
import { safeJson } from '../../text/json-safe.js';
import type { ExitStatus } from '../exit-status.js';
import { readSource } from '../read-source.js';
import type { Terminal } from '../terminal.js';
import type { Dialect, Saved, View } from './kinds/kind.js';
import { pictureLines } from './picture.js';
import { recognise } from './recognise.js';
import { type Look, rowsOf } from './rows.js';
import { saveLines } from './save-lines.js';
import { drawingsOf, type Section } from './sheet.js';

export interface RenderOptions {
  readonly dialect?: Dialect;
  readonly supports: ReadonlySet<string>;
  readonly output: 'plain' | 'json';
  readonly as?: 'svg';
  readonly save?: string;
  readonly width?: number;
  readonly unfold?: boolean;
  /** Undefined: as the terminal and the environment say. */
  readonly color?: boolean;
}

const LARGEST = 64 * 1024 * 1024;
/** 256 colours: enough for code, and what a picture has. */
const RICH = 2;
const PIPE_WIDTH = 80;
const PICTURE_WIDTH = 100;
/** Characters written at once; a screenful does not wait for more. */
const FIRST_CHUNK = 4 * 1024;
const CHUNK = 64 * 1024;

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
  const bytes = await readSource(file, stdin, LARGEST);
  const saved = await recognise({ name, bytes, dialect: options.dialect ?? null });
  const isPrivate = stdout.isTTY === true && options.as === undefined;
  await show(saved, { supports: options.supports, isPrivate }, options, terminal);
  const count = saved.faults.length;
  if (count > 0) stderr.write(warningText({ message: brokenText(name, count) }));
  return 0;
}

function refuseContradictions({ as, save, output }: RenderOptions): void {
  if (save !== undefined && as === undefined)
    throw new ProtocolCliError('usage', '--save is for a picture', {
      hint: 'Add --as svg; text goes to a file with >.',
    });
  if (as !== undefined && output === 'json')
    throw new ProtocolCliError('usage', '--as and -o json exclude each other');
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
  const lines = pictureLines(sections, await pictureLook(sections, options));
  return options.save === undefined ? writeLines(stdout, lines) : saveLines(options.save, lines);
}

async function lookOf(
  sections: readonly Section[],
  options: RenderOptions,
  terminal: Terminal,
): Promise<Look> {
  const level = levelOf(options, terminal);
  const { unfold: isUnfolded = false } = options;
  const highlighter = level >= RICH ? await loadHighlighter(drawingsOf(sections)) : null;
  return { width: widthOf(options, terminal), theme: createTheme(level), isUnfolded, highlighter };
}

async function pictureLook(
  sections: readonly Section[],
  { width = PICTURE_WIDTH, unfold: isUnfolded = false }: RenderOptions,
): Promise<Look> {
  const highlighter = await loadHighlighter(drawingsOf(sections));
  return { width, theme: createTheme(RICH), isUnfolded, highlighter };
}

function widthOf({ width }: RenderOptions, { stdout }: Terminal): number {
  return width ?? ((stdout.isTTY && stdout.columns) || PIPE_WIDTH);
}

/** What is asked for by `--color` counts before the environment. */
function levelOf({ color }: RenderOptions, { stdout, env }: Terminal): ColourLevel {
  const isTTY = stdout.isTTY === true;
  if (color !== true) return colourLevel({ env, isTTY, noColor: color === false });
  const { NO_COLOR: _, ...others } = env;
  return colourLevel({ env: { ...others, FORCE_COLOR: 'true' }, isTTY, noColor: false });
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
