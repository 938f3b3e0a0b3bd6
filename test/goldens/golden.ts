import { readdirSync, readFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import type { ExpectStatic } from 'vitest';
import { runHere } from '../e2e/support/in-process.js';
import { ROOT, type RunOptions } from '../e2e/support/program.js';
import { openHere, type ScreenHere } from '../screen/support/screen-here.js';

/*
 * Golden outputs: what the program prints and draws, as files under `outputs/`. `npm run goldens` writes them anew; where an
 * output changes on purpose, the diff of these files is the review. Everything here goes through the command line alone.
 */

const OUTPUTS = join(ROOT, 'test/goldens/outputs');

/** Paths as the reader of a golden sees them: below the root of the project. */
const inProject = (path: string) => relative(process.cwd(), join(ROOT, path));

/** Every file of a folder of the project, by its name without the ending. */
export function filesIn(folder: string): readonly { readonly name: string; readonly file: string }[] {
  return readdirSync(join(ROOT, folder))
    .sort()
    .map(entry => ({ name: basename(entry).replace(/\.\w+$/, ''), file: inProject(join(folder, entry)) }));
}

/** Compares with `outputs/<name>.txt`, or writes it where vitest updates snapshots. */
export async function expectGolden(expect: ExpectStatic, name: string, text: string): Promise<void> {
  await expect(text).toMatchFileSnapshot(join(OUTPUTS, `${name}.txt`));
}

/** Runs the commands one after the other: each with its output and its exit status, as a reader would copy them from a terminal. */
export async function printed(
  commands: readonly (readonly string[])[],
  options?: RunOptions,
): Promise<string> {
  const parts: string[] = [];
  for (const args of commands) {
    const { status, stdout, stderr } = await runHere(args, options);
    const errors = stderr === '' ? '' : `--- stderr\n${lineEnded(stderr)}`;
    parts.push(`$ protocol-cli ${args.join(' ')}\n${lineEnded(stdout)}${errors}--- exit ${status}\n`);
  }
  return parts.join('\n');
}

/** An output without what differs from run to run: ports, tokens, dates, UUIDs. */
export function masked(text: string): string {
  return text
    .replaceAll(/(127\.0\.0\.1:|"port":|localhost:)\d{4,5}/g, '$1PORT0')
    .replaceAll(/(\/callback\/|\/choice\/|\/consent\/|state=)[\w-]{16,}/g, '$1TOKEN')
    .replaceAll(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, 'UUID')
    .replaceAll(/"sha256": ?"\w+"/g, '"sha256":"SHA"')
    .replaceAll(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?( UTC|Z)/g, 'DATE')
    .replaceAll(/\w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT/g, 'DATE');
}

function lineEnded(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n(no newline at the end)\n`;
}

/** What is on the screen after these keys, in a terminal of this size. */
export interface Frame {
  readonly title: string;
  readonly keys?: string;
  readonly size: { readonly columns: number; readonly rows: number };
}

interface Drawing {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Leads to what the first frame shows. */
  readonly prepare: (screen: ScreenHere) => Promise<unknown>;
  readonly frames: readonly Frame[];
  /** How this run's ports and times are written. */
  readonly mask?: (text: string) => string;
}

/** Runs the full-screen program in this process, and compares its frames with `outputs/<name>.txt`. */
export async function expectGoldenFrames(
  expect: ExpectStatic,
  name: string,
  { args, cwd, env = {}, prepare, frames, mask = text => text }: Drawing,
): Promise<void> {
  const [first] = frames;
  await using screen = openHere(args, { ...first?.size, cwd, env });
  await prepare(screen);
  const expected = sectionsOf(name);
  let size = first?.size;
  let text = '';
  for (const frame of frames) {
    if (frame.size !== size) screen.resize(frame.size);
    size = frame.size;
    if (frame.keys !== undefined) screen.type(frame.keys);
    const title = `${RULE} ${frame.size.columns}x${frame.size.rows} ${frame.title}`;
    text += `${title}\n${await settled(() => mask(screen.text()), expected.get(title))}\n`;
  }
  screen.type('q');
  await expectGolden(expect, name, text);
}

const RULE = '=====';
/** A screen that did not change for so many looks in a row is taken for finished; on a busy machine a frame may take long. */
const LOOKS = 40;
const LOOK_EVERY_MS = 25;

/** A frame as soon as it is the expected one; otherwise what the screen shows once it no longer changes. */
async function settled(look: () => string, expected: string | undefined): Promise<string> {
  let seen = look();
  for (let same = 0; seen !== expected && same < LOOKS; ) {
    await new Promise(resolve => setTimeout(resolve, LOOK_EVERY_MS));
    const now = look();
    same = now === seen ? same + 1 : 0;
    seen = now;
  }
  return seen;
}

/** The frames of a golden file, by their titles. */
function sectionsOf(name: string): ReadonlyMap<string, string> {
  const sections = new Map<string, string>();
  let text = '';
  try {
    text = readFileSync(join(OUTPUTS, `${name}.txt`), 'utf8');
  } catch {
    return sections; // it is written for the first time
  }
  for (const part of text.split(/^(?====== )/m)) {
    const end = part.indexOf('\n');
    sections.set(part.slice(0, end), part.slice(end + 1).replace(/\n$/, ''));
  }
  return sections;
}
