import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { runHere, startHere } from '../e2e/support/in-process.js';

const run = promisify(execFile);

/** The README or a guide. */
export interface Document {
  readonly path: string;
  readonly text: string;
}

export const README: Document = { path: 'README.md', text: await readFile('README.md', 'utf8') };
export const GUIDE_PAGES: readonly Document[] = await Promise.all(
  (await readdir('src/guides')).map(async name => ({
    path: `src/guides/${name}`,
    text: await readFile(`src/guides/${name}`, 'utf8'),
  })),
);

export function guide(name: string): Document {
  const found = GUIDE_PAGES.find(({ path }) => path === `src/guides/${name}.md`);
  if (!found) throw new Error(`no guide ${name}`);
  return found;
}

/** One command of a `console` block, and the output that stands below it. */
export interface Example {
  readonly command: string;
  /** Lines; `…` stands for more output. */
  readonly output: readonly string[];
  /** The HTML comment above the block: `<!-- tool.mjs: old => new -->` changes the tool before the run. */
  readonly comment: string;
}

export function examplesOf(markdown: string): Example[] {
  return [...markdown.matchAll(/(?:<!-- ([^\n]*) -->\n)?^```console\n(.*?)^```/gms)].flatMap(
    ([, comment = '', block = '']) =>
      block
        .split(/^\$ /m)
        .slice(1)
        .map(part => {
          const [command = '', ...output] = part.trimEnd().split('\n');
          return { command, output, comment };
        }),
  );
}

export function blocksOf(markdown: string, language: string): string[] {
  return [...markdown.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(
    ([, block = '']) => block,
  );
}

export interface FileBlock {
  readonly name: string;
  readonly language: string;
  readonly text: string;
}

/** The blocks that are a file: their first line is a comment that ends with its name. */
export function filesOf({ text }: Document): FileBlock[] {
  return ['yaml', 'js', 'ts'].flatMap(language =>
    blocksOf(text, language).map(block => ({
      name: /^(?:#|\/\/) (?:.* )?([\w./-]+\.\w+)\n/.exec(block)?.[1] ?? '',
      language,
      text: block,
    })),
  );
}

export function fileOf(document: Document, name: string): string {
  const found = filesOf(document).find(file => file.name === name);
  if (!found) throw new Error(`${document.path} has no block for ${name}`);
  return found.text;
}

/** A folder with all files of a document that are not in a folder of their own. */
export async function folderOf(document: Document): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'readme-'));
  const files = filesOf(document).filter(({ name }) => name !== '' && !name.includes('/'));
  await Promise.all(files.map(({ name, text }) => writeFile(join(folder, name), text)));
  return folder;
}

/** The command line of an example with the programs, ports and files of this machine. */
export function local(command: string, { url, folder }: { url: string; folder: string }): string {
  return command
    .replaceAll('npx protocol-cli', 'node bin/protocol-cli.cjs')
    .replaceAll(/(?<= ):3001\b|http:\/\/(?:127\.0\.0\.1|tool):3001/g, url)
    .replaceAll('node server.mjs', 'node test/peers/plain-tool.mjs')
    .replaceAll(
      /(?<=[ '"])[\w-]+\.(?:yaml|ndjson|svg|mjs|json)(?=[ '"]|$)/g,
      name => `${join(folder, name)}`,
    );
}

export interface Output {
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs a command line with as few processes as possible: protocol-cli in this process, and in a shell only the command after `--`, or the
 * one that reads its output (`| tail`) or runs next (`&& head`).
 */
export async function outputOf(line: string): Promise<Output> {
  const [, stdin, words = '', child, next, isEndless] =
    /^(?:echo '([^']*)' \| )?node bin\/protocol-cli\.cjs ([^|&;$<>`#]*?)(?: -- (.*)| (?:\||&&) ([^|&]*)| +(# Ctrl-C ends it))?$/.exec(
      line,
    ) ?? [];
  if (words === '') return run('sh', ['-c', line]); // rejects unless it exits 0
  if (child !== undefined) return outputWithChild(wordsOf(words), child);
  const program = startHere(wordsOf(words), {
    cwd: process.cwd(),
    stdin: stdin === undefined ? '' : `${stdin}\n`,
  });
  if (isEndless) {
    await program.prints(/\n/);
    program.interrupt();
  }
  const ended = await program.ended;
  if (next === undefined) return ended;
  const shell = run('sh', ['-c', next]);
  shell.child.stdin?.on('error', () => {}).end(ended.stdout); // it may not read all
  return { ...(await shell), stderr: ended.stderr };
}

/** The child writes to files: its streams would be those of the test. */
async function outputWithChild(words: readonly string[], child: string): Promise<Output> {
  const folder = await mkdtemp(join(tmpdir(), 'readme-'));
  const [out, err] = [join(folder, 'stdout'), join(folder, 'stderr')];
  try {
    const shell = ['sh', '-c', `(${child}) >${out} 2>${err}`];
    const { status, stdout, stderr } = await runHere([...words, '--', ...shell], { cwd: process.cwd() });
    if (status !== 0) throw new Error(`exited with status ${status}: ${stderr}`);
    return {
      stdout: stdout + (await readFile(out, 'utf8')),
      stderr: stderr + (await readFile(err, 'utf8')),
    };
  } finally {
    await rm(folder, { recursive: true });
  }
}

export function wordsOf(line: string): string[] {
  return [...line.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)].map(([word]) =>
    word.replaceAll(/'([^']*)'|"([^"]*)"/g, (_, single?: string, double?: string) => single ?? double ?? ''),
  );
}

/** The lines that an example shows, and those printed. Warnings and errors may come in any order, between others. */
export function compared({ command, output }: Example, { stdout, stderr }: Output) {
  const promised = output.filter(line => line !== '…').map(withoutNumbers);
  const lines = (text: string) => text.split('\n').map(withoutNumbers);
  if (!/^(?:error|warning): /.test(promised[0] ?? ''))
    return { command, promised, printed: lines(stdout).slice(0, promised.length) };
  const messages = lines(stderr);
  const isPrinted = (line: string) => messages.some(message => message.startsWith(line.replace(/…$/, '')));
  return { command, promised, printed: promised.every(isPrinted) ? promised : messages };
}

/** Ports, times and the blanks that fill a column differ from run to run. */
export function withoutNumbers(line: string): string {
  return line.replace(/ *\d+(?:\.\d+)?(?:ms|s)?/g, ' #').trimEnd();
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address ? address.port : 0;
}
