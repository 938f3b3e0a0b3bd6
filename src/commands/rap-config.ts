import { readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod/mini';
import type { Warning } from '../protocol/requirements.js';
import { validate } from '../protocol/validate.js';
import { ProtocolCliError } from '../util/errors.js';
import { readJson } from '../util/json.js';
import { shellWord } from '../util/shell-word.js';
import { asUtf8, excerpt } from '../util/text.js';
import { isRecord, stringOrJson } from '../util/values.js';
import { visibleLine } from '../util/visible.js';
import { usageError } from './options.js';
import { type ConfiguredTarget, commandOf, jsonTrouble } from './target.js';
import type { Prompts } from './terminal.js';

const FOLDER = '.infinity';

const FILE = join(FOLDER, 'rap.json');

const NAME_A_TOOL = 'Give its URL (http://127.0.0.1:3001), --command, or --demo to try the bundled one.';

/** The tool servers of all files. */
export interface RapConfig {
  readonly targets: readonly ConfiguredTarget[];
  readonly warnings: readonly Warning[];
  /** What to print if there are no servers. */
  readonly emptyText: string;
}

/**
 * Reads and merges the project's file and the home folder's. A home entry is dropped if the project has one with the same `id`.
 * @param hint other ways to specify a tool server
 * @throws ProtocolCliError `usage` without a file, `unreadable-file` if one is not JSON or has no list of entries.
 */
export async function readRapConfig(
  { cwd, home }: { readonly cwd: string; readonly home: string },
  hint = NAME_A_TOOL,
): Promise<RapConfig> {
  const places = [...new Set([join(cwd, FILE), join(home, FILE)])];
  const files = (await Promise.all(places.map(readEntries))).flatMap(file => file ?? []);
  if (files.length === 0)
    throw usageError('no tool server given', `${hint} There is also no ${FILE} here or in your home folder.`);
  const project = join(cwd, FOLDER);
  const hasProject = await stat(project).then(
    found => found.isDirectory(),
    () => false,
  );
  const entries = files.flatMap(({ path, entries: own }) =>
    own.map((entry, index) => ({ path, index, entry, id: isRecord(entry) ? entry['id'] : undefined })),
  );
  const targets: ConfiguredTarget[] = [];
  const warnings: Warning[] = [];
  for (const { path, index, entry, id } of entries) {
    const first = entries.find(each => each.id === id);
    if (typeof id === 'string' && first?.path !== path) continue;
    // The reference runtime starts every command in `<project>/.infinity`.
    const target = readEntry(entry, hasProject ? project : dirname(path));
    if (typeof target === 'string')
      warnings.push({ message: `${path}: tool_sets[${index}] is ignored: ${target}` });
    else if (!targets.some(each => isDeepStrictEqual(serverOf(each), serverOf(target)))) targets.push(target);
  }
  const paths = files.map(({ path }) => path).join(' or ');
  return { targets, warnings, emptyText: `no tool servers are configured in ${paths}` };
}

/** @throws ProtocolCliError `usage` if no entry can be used. */
export function requireServers(config: RapConfig): void {
  if (config.targets.length > 0) return;
  throw usageError(
    config.emptyText,
    'Add one to tool_sets, or give the URL of a tool server.',
    config.warnings.map(({ message }) => message),
  );
}

const fileSchema = z.object({ tool_sets: z.array(z.unknown()) });

/** Null if the file does not exist. @throws ProtocolCliError `unreadable-file`. */
async function readEntries(path: string) {
  const read = await readFile(path).catch(() => null);
  if (!read) return null;
  const bytes = asUtf8(read);
  const json = readJson(bytes);
  const file = json.ok
    ? validate(fileSchema, json.value)
    : { ...json, faults: [jsonTrouble(bytes, json.reason)] };
  if (file.ok) return { path, entries: file.value.tool_sets };
  throw new ProtocolCliError('unreadable-file', `${path} is not valid`, { faults: file.faults });
}

const notEmpty = z.string().check(z.minLength(1));

const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http or https URL' });

const texts = z.nullish(z.record(z.string(), z.string()));

/** Parsers for each type of entry. */
const ENTRIES: Readonly<Record<string, z.ZodMiniType<ConfiguredTarget>>> = {
  toolset_server: z.pipe(
    z.object({ server_url: httpUrl }),
    z.transform(({ server_url: url }): ConfiguredTarget => ({ kind: 'url', url })),
  ),
  toolset_command: z.pipe(
    z.object({ command: notEmpty }),
    z.transform(({ command }): ConfiguredTarget => ({ kind: 'command', command })),
  ),
  mcp_server: z.pipe(
    z.object({ name: notEmpty, command: z.array(z.string()).check(z.minLength(1)), env: texts }),
    z.transform(({ name, command: words, env }): ConfiguredTarget => {
      const line = words.map(word => shellWord(word, process.platform)).join(' ');
      return { kind: 'mcp', name, server: { kind: 'stdio', name: line, words, env: env ?? {} } };
    }),
  ),
  http_mcp_server: z.pipe(
    z.object({ name: notEmpty, url: httpUrl, headers: texts }),
    z.transform(({ name, url, headers }): ConfiguredTarget => {
      return { kind: 'mcp', name, server: { kind: 'http', name: url, headers: headers ?? {} } };
    }),
  ),
};

/** What is the same for entries of one server: the address, and not how it is written or named. */
function serverOf(target: ConfiguredTarget): unknown {
  if (target.kind === 'url') return { ...target, url: new URL(target.url).href };
  if (target.kind !== 'mcp') return target;
  const { server } = target;
  return server.kind === 'http' ? { ...server, name: new URL(server.name).href } : server;
}

/** Returns the server of an entry, or why it cannot be used. */
function readEntry(entry: unknown, folder: string): ConfiguredTarget | string {
  const type = isRecord(entry) ? entry['type'] : undefined;
  const schema = typeof type === 'string' && Object.hasOwn(ENTRIES, type) ? ENTRIES[type] : undefined;
  if (!schema) {
    const found = type === undefined ? 'no type' : `unknown type ${excerpt(stringOrJson(type))}`;
    return `${found}; known types: ${Object.keys(ENTRIES).join(', ')}`;
  }
  const checked = validate(schema, entry);
  if (!checked.ok) return checked.faults.join('; ');
  return checked.value.kind === 'command' ? { ...checked.value, cwd: folder } : checked.value;
}

/**
 * Asks before the commands of `.infinity/rap.json` are started: the folder may come from another person.
 * @throws ProtocolCliError `decision-needed` without a terminal, `declined` if the user says no.
 */
export async function confirmCommands(targets: readonly ConfiguredTarget[], prompts: Prompts): Promise<void> {
  for (const command of targets.map(commandOf)) {
    if (command === null) continue;
    const what = `.infinity/rap.json starts the command: ${visibleLine(command)}`;
    if (!prompts.canAsk)
      throw new ProtocolCliError('decision-needed', what, {
        hint: 'Add --yes to start it without asking.',
      });
    const answer = (await prompts.ask(`${what}\nStart it? [y/N] `)) ?? 'no';
    if (!/^y(es)?$/i.test(answer.trim()))
      throw new ProtocolCliError('declined', 'not started: you answered no');
  }
}
