import type { DialectName } from '../../dialects/dialect.js';
import { ProtocolCliError } from '../../errors.js';
import { warningText } from '../../reporters/trouble.js';
import { counted } from '../../story/warnings.js';
import { writeOut } from '../../system/output.js';
import { keepHeapTight, keepNewspaceSmall } from '../../system/tight-heap.js';
import { safeJson } from '../../text/json-safe.js';
import type { ExitStatus } from '../exit-status.js';
import { LARGEST_SAVED, readSource } from '../read-source.js';
import type { Terminal } from '../terminal.js';
import type { CallSelection, Saved, View } from './kinds/kind.js';
import { type LookOptions, lookOf, pictureLook } from './look.js';
import { pictureLines } from './picture.js';
import { putLines, writeLines } from './put-lines.js';
import { recognise } from './recognise.js';
import { rowsOf } from './rows.js';
import { type Origin, translated } from './translated.js';

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
  throw new ProtocolCliError('usage', `--call and --failed select calls of one transcript; ${name} is none`);
}

function refuseContradictions({ as, save, output }: RenderOptions): void {
  if (save !== undefined && as === undefined)
    throw new ProtocolCliError('usage', '--save needs --as: a picture, or a dialect', {
      hint: 'Add --as svg, or the name of a dialect; text goes to a file with >.',
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

/** As another wire has it: what got lost is told beside. */
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
