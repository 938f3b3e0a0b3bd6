import { readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod/mini';
import { createNodeClient } from '../http/node-client.js';
import type { MockTool } from '../mock/mock-tool.js';
import type { Warning } from '../protocol/requirements.js';
import { validate } from '../protocol/validate.js';
import { ProtocolCliError } from '../util/errors.js';
import { excerpt } from '../util/excerpt.js';
import { readJson } from '../util/json.js';
import { isRecord } from '../util/json-diagnosis.js';
import { foreignWords } from '../util/redact-json.js';
import { shellWord } from '../util/strings.js';
import { visibleLine } from '../util/visible.js';
import { type ReachOptions, startServer } from './started-server.js';
import { type ConfiguredTarget, commandOf, demoFixtures, jsonTrouble } from './target.js';
import { ask, isSomebodyThere, type Terminal } from './terminal.js';

/** The tool servers of `.infinity/rap.json`, the reference runtime's configuration. */
interface RapConfig {
  /** The project's entries, then those of the home folder's file. */
  readonly targets: readonly ConfiguredTarget[];
  /** One for each entry that cannot be used. */
  readonly warnings: readonly Warning[];
  /** The files that were read. */
  readonly files: readonly string[];
}

const FOLDER = '.infinity';
const FILE = join(FOLDER, 'rap.json');

const NAME_A_TOOL =
  'Give its URL (protocol-cli invoke http://127.0.0.1:3001 …), --command, or --demo to try the bundled one.';

/**
 * Reads and merges the project's file and the home folder's: an entry of the second counts where the first has none with its `id`.
 * @param hint how else a tool server can be given
 * @throws ProtocolCliError `usage` where there is no file, `unreadable-file` where one is not JSON or has no list of entries.
 */
export async function readRapConfig(
  { cwd, home }: { readonly cwd: string; readonly home: string },
  hint = NAME_A_TOOL,
): Promise<RapConfig> {
  const paths = [...new Set([join(cwd, FILE), join(home, FILE)])];
  const files = (await Promise.all(paths.map(readEntries))).flatMap(file => file ?? []);
  if (files.length === 0)
    throw new ProtocolCliError('usage', 'no tool server given', {
      hint: `${hint} There is also no ${FILE} here or in your home folder.`,
    });
  const commandFolder = await folderForCommands(cwd);
  const targets: ConfiguredTarget[] = [];
  const warnings: Warning[] = [];
  for (const { path, index, entry } of merged(files)) {
    const read = readEntry(entry, commandFolder ?? dirname(path));
    if (!read.ok) warnings.push({ message: `${path}: tool_sets[${index}] is ignored: ${read.reason}` });
    else if (!targets.some(each => isDeepStrictEqual(each, read.target))) targets.push(read.target);
  }
  return { targets, warnings, files: files.map(({ path }) => path) };
}

interface ConfigFile {
  readonly path: string;
  readonly entries: readonly unknown[];
}

/** The entries of all files, without those whose `id` an earlier file has. */
function merged(files: readonly ConfigFile[]) {
  return files.flatMap(({ path, entries }, position) => {
    const taken = new Set(files.slice(0, position).flatMap(file => file.entries.map(idOf)));
    taken.delete(undefined);
    return entries
      .map((entry, index) => ({ path, index, entry }))
      .filter(({ entry }) => !taken.has(idOf(entry)));
  });
}

function idOf(entry: unknown): string | undefined {
  const id = isRecord(entry) ? entry['id'] : undefined;
  return typeof id === 'string' ? id : undefined;
}

/** @throws ProtocolCliError `usage` where no entry can be used. */
export function requireServers(config: RapConfig): void {
  if (config.targets.length > 0) return;
  throw new ProtocolCliError('usage', noServersText(config), {
    faults: config.warnings.map(({ message }) => message),
    hint: 'Add one to tool_sets, or give the URL of a tool server.',
  });
}

export function noServersText({ files }: RapConfig): string {
  return `no tool servers are configured in ${files.join(' or ')}`;
}

/** The reference runtime starts every command in `<project>/.infinity`; null where the project has no such folder. */
async function folderForCommands(project: string): Promise<string | null> {
  const folder = join(project, FOLDER);
  const isFolder = await stat(folder).then(
    found => found.isDirectory(),
    () => false,
  );
  return isFolder ? folder : null;
}

const fileSchema = z.object({ tool_sets: z.array(z.unknown()) });

/** Null if the file does not exist. @throws ProtocolCliError `unreadable-file`. */
async function readEntries(path: string): Promise<ConfigFile | null> {
  const bytes = await readFile(path).catch(() => null);
  if (!bytes) return null;
  const json = readJson(bytes);
  const file = json.ok
    ? validate(fileSchema, json.value)
    : { ...json, faults: [jsonTrouble(bytes, json.reason)] };
  if (!file.ok)
    throw new ProtocolCliError('unreadable-file', `${path} is not valid`, { faults: file.faults });
  return { path, entries: file.value.tool_sets };
}

const notEmpty = z.string().check(z.minLength(1));
const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http or https URL' });
const texts = z.nullish(z.record(z.string(), z.string()));

const urlEntry = z.object({ server_url: httpUrl });
const commandEntry = z.object({ command: notEmpty });
const mcpEntry = z.object({
  name: notEmpty,
  command: z.array(z.string()).check(z.minLength(1)),
  env: texts,
});
const httpMcpEntry = z.object({ name: notEmpty, url: httpUrl, headers: texts });

type EntryReading =
  | { readonly ok: true; readonly target: ConfiguredTarget }
  | { readonly ok: false; readonly reason: string };

const READERS: Readonly<Record<string, (entry: unknown, folder: string) => EntryReading>> = {
  toolset_server: entry => read(urlEntry, entry, ({ server_url: url }) => ({ kind: 'url', url })),
  toolset_command: (entry, cwd) =>
    read(commandEntry, entry, ({ command }) => ({ kind: 'command', command, cwd })),
  mcp_server: entry =>
    read(mcpEntry, entry, ({ name, command, env }) => ({
      kind: 'mcp',
      name,
      server: { kind: 'stdio', name: command.map(shellWord).join(' '), env: env ?? {} },
    })),
  http_mcp_server: entry =>
    read(httpMcpEntry, entry, ({ name, url, headers }) => ({
      kind: 'mcp',
      name,
      server: { kind: 'http', name: url, headers: headers ?? {} },
    })),
};

function readEntry(entry: unknown, folder: string): EntryReading {
  const type = isRecord(entry) ? entry['type'] : undefined;
  const reader = typeof type === 'string' && Object.hasOwn(READERS, type) ? READERS[type] : undefined;
  if (reader) return reader(entry, folder);
  const found = type === undefined ? 'no type' : `unknown type ${excerpt(foreignWords(type))}`;
  return { ok: false, reason: `${found}; known types: ${Object.keys(READERS).join(', ')}` };
}

function read<S extends z.ZodMiniType>(
  schema: S,
  entry: unknown,
  targetOf: (value: z.infer<S>) => ConfiguredTarget,
): EntryReading {
  const checked = validate(schema, entry);
  if (checked.ok) return { ok: true, target: targetOf(checked.value) };
  return { ok: false, reason: checked.faults.join('; ') };
}

/**
 * The URL of a tool server. The demo and an MCP server are served from this process; a command is started as a process of its own.
 * @throws ProtocolCliError `command-failed`; of an MCP server also `unreachable` and `no-discovery`.
 */
export async function reach(target: ConfiguredTarget, options: ReachOptions): Promise<string> {
  const { onStop } = options;
  switch (target.kind) {
    case 'url':
      return target.url;
    case 'demo': {
      const tool = await startDemo();
      onStop(() => tool.close({ drainMs: 0 }));
      return tool.url;
    }
    case 'mcp': {
      const { startMcpToolset } = await import('./mcp-toolset.js');
      return startMcpToolset(target, options);
    }
    case 'command':
      return startServer(target, options);
  }
}

/** Uses a client that loads fast: one call needs no throughput. */
async function startDemo(): Promise<MockTool> {
  const { startMockTool } = await import('../mock/mock-tool.js');
  return startMockTool({ fixtures: await demoFixtures(), client: async () => createNodeClient() });
}

/**
 * A folder may come from anybody: the commands of its `.infinity/rap.json` are offered, not run unasked.
 * @throws ProtocolCliError `decision-needed` without a terminal, `declined` if the user says no.
 */
export async function confirmCommands(
  targets: readonly ConfiguredTarget[],
  terminal: Terminal,
  signal: AbortSignal,
): Promise<void> {
  for (const target of targets) {
    const command = commandOf(target);
    if (command === null) continue;
    const what = `.infinity/rap.json starts the command: ${visibleLine(command)}`;
    if (!isSomebodyThere(terminal))
      throw new ProtocolCliError('decision-needed', what, {
        hint: 'Add --yes to start it without asking.',
      });
    const answer = (await ask(`${what}\nStart it? [y/N] `, terminal, signal)) ?? 'no';
    if (!/^y(es)?$/i.test(answer.trim()))
      throw new ProtocolCliError('declined', 'not started: you answered no');
  }
}
