import { readdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Command, Option } from 'commander';
import { REPORT_FORMATS } from '../../render/outputs/report-formats.js';
import type { RunCommand } from '../options.js';
import { readMcpTarget, readTarget } from '../target.js';
import type { Terminal } from '../terminal.js';
import { readNames, serverKey } from './known-names.js';
import { type Given, readGiven, type TypedLine, takesNext } from './line.js';

/** A word that may stand at the cursor. After one that ends with `=` or `/`, the word goes on. */
export interface Candidate {
  readonly value: string;
  readonly about?: string;
}

/** A command or a guide. */
export interface Topic {
  readonly name: string;
  readonly summary: string;
  /** Of a command. */
  readonly load?: () => Promise<(run: RunCommand) => Command>;
}

/** Where a word is typed. */
interface Place extends Given {
  readonly current: string;
  readonly terminal: Pick<Terminal, 'env' | 'home' | 'cwd'>;
}

type Source = (place: Place) => Promise<readonly Candidate[]>;

/** Returns what may stand at the cursor; nothing where only the shell knows, such as after `--`. */
export async function candidatesAt(
  { before, current }: TypedLine,
  topics: readonly Topic[],
  terminal: Place['terminal'],
): Promise<readonly Candidate[]> {
  if (before.includes('--')) return [];
  const [name, ...words] = before;
  const load = topics.find(topic => topic.name === name)?.load;
  if (!load) return startingWith(current, topicsAfter(before, topics));
  const command = (await load())(async () => {});
  const sub = command.commands.find(each => each.name() === words[0]);
  const given = readGiven(sub ? words.slice(1) : words, sub ?? command);
  return startingWith(current, await inCommand(sub ?? command, { ...given, current, terminal }));
}

function startingWith(current: string, candidates: readonly Candidate[]): readonly Candidate[] {
  return candidates.filter(({ value }) => value.startsWith(current));
}

/** In place of a command, or of what `help` is about. */
function topicsAfter(before: readonly string[], topics: readonly Topic[]): Candidate[] {
  const commands = [
    ...topics.filter(({ load }) => load),
    { name: 'help', summary: 'display help for a command, or a guide' },
  ];
  const named = before.length === 0 ? commands : before.length === 1 && before[0] === 'help' ? topics : [];
  return named.map(({ name, summary }) => ({ value: name, about: summary }));
}

async function inCommand(command: Command, place: Place): Promise<readonly Candidate[]> {
  const { awaiting, current, positionals } = place;
  if (awaiting && takesNext(awaiting, current)) return valuesOf(awaiting, place);
  const [, flag, typed = ''] = /^(--[\w-]+)=(.*)$/s.exec(current) ?? [];
  const option = command.options.find(({ long }) => long === flag);
  if (flag !== undefined) {
    const values = option ? await valuesOf(option, { ...place, current: typed }) : [];
    return values.map(({ value, ...rest }) => ({ value: `${flag}=${value}`, ...rest }));
  }
  if (current.startsWith('-')) {
    const options = command.createHelp().visibleOptions(command);
    return options.flatMap(({ long, description }) => (long ? [{ value: long, about: description }] : []));
  }
  if (command.commands.length > 0)
    return command.commands.map(each => ({ value: each.name(), about: each.summary() }));
  const choices = command.registeredArguments[positionals.length]?.argChoices;
  return choices ? choices.map(value => ({ value })) : (POSITIONALS[command.name()]?.(place) ?? []);
}

async function valuesOf(option: Option, place: Place): Promise<readonly Candidate[]> {
  if (option.argChoices) return option.argChoices.map(value => ({ value }));
  const source =
    VALUES[option.long ?? ''] ?? (/[<[](?:file|folder)/.test(option.flags) ? filesOf(/./) : null);
  return source ? source(place) : [];
}

/** A file for which a pattern matches the name, or a folder. */
function filesOf(pattern: RegExp): Source {
  return async ({ current, terminal }) => {
    const [folder = ''] = /^.*\//s.exec(current) ?? [];
    const entries = await readdir(resolve(terminal.cwd, folder), { withFileTypes: true }).catch(() => []);
    const isHiddenWanted = current.slice(folder.length).startsWith('.');
    return entries
      .filter(entry => (entry.isDirectory() || pattern.test(entry.name)) && !/\p{C}/u.test(entry.name))
      .filter(({ name }) => isHiddenWanted || !name.startsWith('.'))
      .map(entry => ({ value: `${folder}${entry.name}${entry.isDirectory() ? '/' : ''}` }));
  };
}

const YAML = filesOf(/\.(?:ya?ml|json)$/i);
const FIXTURES = filesOf(/\.(?:ya?ml|(?:nd)?jsonl?)$/i);
const TRANSCRIPTS = filesOf(/\.(?:nd)?jsonl?$/i);

/** The URLs of servers that were called before. */
const servers: Source = async ({ terminal }) =>
  [...(await readNames(terminal)).keys()].filter(key => key.includes('://')).map(value => ({ value }));

/** The operations of the server that the line names, or the arguments of the operation that it names. */
const callOf: Source = async place => {
  const { target, rest } = serverOn(place);
  if (!target || target.kind === 'endpoint') return [];
  const operations = (await readNames(place.terminal)).get(serverKey(target)) ?? [];
  const [operation, ...given] = rest;
  if (operation === undefined) return operations.map(([value]) => ({ value }));
  const [, args = []] = operations.find(([name]) => name === operation) ?? [];
  return args
    .filter(arg => !given.some(word => word.startsWith(`${arg}=`)))
    .map(arg => ({ value: `${arg}=` }));
};

/** The server that the line names, and the words after it. @throws ProtocolCliError `usage` */
function serverOn({ positionals, values }: Given) {
  const [mcp, command] = [values.get('mcp'), values.get('command')];
  if (mcp === undefined)
    return readTarget(positionals, { demo: values.has('demo'), ...(command !== undefined && { command }) });
  return { target: { kind: 'mcp', name: mcp, server: readMcpTarget(mcp, {}) } as const, rest: positionals };
}

const serverThenCall: Source = async place => {
  const { positionals, values } = place;
  const isNamed = positionals.length > 0 || ['demo', 'command', 'mcp'].some(name => values.has(name));
  return isNamed ? callOf(place) : servers(place);
};

const rules: Source = async () => {
  const { RULES } = await import('../../check/rules/index.js');
  return Object.entries(RULES).map(([value, { statement }]) => ({ value, about: statement }));
};

/** By the long names of options. */
const VALUES: Readonly<Record<string, Source>> = {
  '--only': rules,
  '--skip': rules,
  '--spec': rules,
  '--scenario': async () =>
    (await import('../../check/drive/run.js')).SCENARIOS.map(({ name, title }) => ({
      value: name,
      about: title,
    })),
  '--operation': callOf,
  '--reporter': async () => Object.keys(REPORT_FORMATS).map(value => ({ value })),
  '--cases': YAML,
  '--expected-failures': YAML,
  '--policy': YAML,
};

/** What stands besides options, by the names of commands. */
const POSITIONALS: Readonly<Record<string, Source>> = {
  invoke: serverThenCall,
  toolset: async place => (place.positionals.length > 1 ? [] : serverThenCall(place)),
  check: async place => [...(await servers(place)), ...(await TRANSCRIPTS(place))],
  'mock-tool': FIXTURES,
  mock: YAML,
  render: filesOf(/./),
  record: servers,
  cancel: servers,
  'close-thread': servers,
  migrate: servers,
};
