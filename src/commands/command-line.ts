import { open, stat } from 'node:fs/promises';
import { Command } from 'commander';
import { didYouMean } from '../util/text.js';
import { examplesText, type RunCommand, usageError } from './options.js';

/** A command in the list of commands; `load` imports its options, help and subcommands. */
interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  readonly load: () => Promise<(run: RunCommand) => Command>;
}

/** How many bytes are read to detect whether a file is a transcript. */
const START_BYTES = 64 * 1024;

/**
 * If the first word names a file, returns the command that shows it: full screen on a terminal, otherwise `render`. Returns the words
 * unchanged if they name no file.
 */
async function wordsForFile(words: readonly string[], canDrawScreen: boolean): Promise<readonly string[]> {
  const [first = '-', ...rest] = words;
  if (first.startsWith('-') || first === 'help' || COMMANDS.some(({ name }) => name === first)) return words;
  const start = await readStart(first);
  if (start === null) return words;
  if (!canDrawScreen || rest.length > 0) return ['render', ...words];
  const { isTranscript } = await import('../events/transcript-reader.js');
  return isTranscript(start) ? ['invoke', '--interactive', '--open', first] : ['render', first, '-o', 'ui'];
}

/** Returns null if the file does not exist. */
async function readStart(path: string): Promise<string | null> {
  const file = await open(path).catch(() => null);
  if (!file) return null;
  try {
    if (!(await file.stat()).isFile()) return null;
    const { buffer, bytesRead } = await file.read(Buffer.alloc(START_BYTES), 0, START_BYTES, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } catch {
    return null;
  } finally {
    await file.close();
  }
}

const EXAMPLES = {
  'the workbench, full screen': 'protocol-cli',
  'a first call, of the tool bundled with this program': 'protocol-cli invoke --demo',
  'a tool of yours: what it offers, then a call':
    'protocol-cli toolset :3000\n  protocol-cli invoke :3000 edit_file path=src/main.rs',
  'the options of a command; a guide': 'protocol-cli help invoke\n  protocol-cli help fixtures',
};

/**
 * Builds the program for commander, and returns the words that it must parse: if the first one names a file, the command that shows it.
 * Loads only the command that the words name, so that more commands do not slow down the start.
 * @throws ProtocolCliError if the first word is a URL, a folder, or the name of a missing file.
 */
export async function commandLine(
  argv: readonly string[],
  version: string,
  run: RunCommand,
  canDrawScreen: boolean,
): Promise<{ readonly program: Command; readonly words: readonly string[] }> {
  const words = withoutLongHelp(await wordsForFile(argv, canDrawScreen));
  const program = new Command('protocol-cli')
    .description(
      'Tests tools that talk to AI agents over asynchronous HTTP.\nAlone, on a terminal, it opens the workbench.',
    )
    .configureHelp({ subcommandTerm: command => command.name() })
    .addHelpText('after', guidesText() + examplesText(EXAMPLES))
    .version(version)
    .showHelpAfterError('(add --help for usage and examples)')
    .exitOverride();
  const named = nameIn(words);
  for (const { name, summary, load } of COMMANDS) {
    const command = name === named ? (await load())(run) : new Command(name);
    program.addCommand(inheriting(program, command.summary(summary)));
  }
  const isKnown = COMMANDS.some(({ name }) => name === named);
  if (words[0] === 'help' && named !== undefined && !isKnown)
    program.addCommand(inheriting(program, guideCommand(named, run)), { hidden: true });
  else if (words[0] === named && named !== undefined && !isKnown) await refuseTarget(named);
  return { program: refusingUnknown(program), words };
}

/** `help session mock` is `session mock --help`; commander would show the help of `session`. */
function withoutLongHelp(words: readonly string[]): readonly string[] {
  const [help, ...topics] = words;
  const isLong = help === 'help' && topics.length > 1 && topics.every(word => !word.startsWith('-'));
  return isLong && COMMANDS.some(({ name }) => name === topics[0]) ? [...topics, '--help'] : words;
}

/** Returns the word that commander takes for a command: the first one without a leading dash; after `help`, the second. */
function nameIn(words: readonly string[]): string | undefined {
  const [first, second] = words.filter(word => !word.startsWith('-'));
  return first === 'help' ? second : first;
}

function inheriting(parent: Command, command: Command): Command {
  command.copyInheritedSettings(parent);
  for (const subcommand of command.commands) inheriting(command, subcommand);
  return command;
}

const URL_LIKE = /^(?:[a-z]+:\/\/|:\d|localhost\b|[\w.-]+:\d)/i;

const COMMAND_OR_FILE = 'Give a command, or a file to show. protocol-cli help lists the commands.';

/** @throws ProtocolCliError if the word in place of a command is a URL, a folder, or the name of a missing file. */
async function refuseTarget(word: string): Promise<void> {
  if (URL_LIKE.test(word))
    throw usageError(
      `no command before the URL ${word}`,
      `protocol-cli toolset ${word} lists its operations; protocol-cli invoke ${word} <operation> key=value calls one.`,
    );
  const found = await stat(word).catch(async (error: unknown) => {
    if (!/[./\\]/.test(word)) return null;
    const { readError: unreadable } = await import('../system/file-system-errors.js');
    throw await unreadable(word, error, COMMAND_OR_FILE);
  });
  if (found?.isDirectory()) throw usageError(`${word} is a folder, not a command or a file`, COMMAND_OR_FILE);
}

/** Makes help for an unknown command an error; commander would show the general help. */
function refusingUnknown(program: Command): Command {
  return program.on('beforeAllHelp', ({ command }: { readonly command: Command }) => {
    const { args, commands } = command;
    const name = nameIn(args);
    if (name !== undefined && commands.length > 0 && commands.every(each => each.name() !== name))
      command.parse([name], { from: 'user' });
  });
}

/** To add a command, create a folder and an entry here. */
export const COMMANDS: readonly CommandEntry[] = [
  {
    name: 'invoke',
    summary: 'call a tool; show what the human sees and what the LLM gets',
    load: async () => (await import('./invoke/command.js')).invokeCommand,
  },
  {
    name: 'mock-tool',
    summary: 'serve fixtures as a tool, by hand or in CI',
    load: async () => (await import('./mock-tool/command.js')).mockToolCommand,
  },
  {
    name: 'toolset',
    summary: 'fetch, validate and list the operations of a tool',
    load: async () => (await import('./toolset/command.js')).toolsetCommand,
  },
  {
    name: 'render',
    summary: 'show a saved message, result, toolset, transcript or diff',
    load: async () => (await import('./render/command.js')).renderCommand,
  },
  {
    name: 'check',
    summary: 'check a tool, a runtime or a transcript against the protocol',
    load: async () => (await import('./check/command.js')).checkCommand,
  },
  {
    name: 'init',
    summary: 'write a first tool or agent, with fixtures and a workflow',
    load: async () => (await import('./init/command.js')).initCommand,
  },
  {
    name: 'listen',
    summary: 'receive and show callbacks of calls that other programs make',
    load: async () => (await import('./listen/command.js')).listenCommand,
  },
  {
    name: 'record',
    summary: 'proxy between a runtime and a tool; writes a transcript',
    load: async () => (await import('./record/command.js')).recordCommand,
  },
  {
    name: 'session',
    summary: 'agent sessions: a mock platform (mock), a client (answer)',
    load: async () => (await import('./session/command.js')).sessionCommand,
  },
  {
    name: 'mcp-server',
    summary: 'toolset, invoke, check and render as tools of a coding agent',
    load: async () => (await import('./mcp-server/command.js')).mcpServerCommand,
  },
  {
    name: 'cancel',
    summary: 'cancel a call or a subscription',
    load: async () => (await import('./notices/command.js')).cancelCommand,
  },
  {
    name: 'close-thread',
    summary: 'notify a tool that a conversation thread has ended',
    load: async () => (await import('./notices/command.js')).closeThreadCommand,
  },
  {
    name: 'migrate',
    summary: 'ask a tool to move a session to another machine',
    load: async () => (await import('./notices/command.js')).migrateCommand,
  },
  {
    name: 'completion',
    summary: 'print a script that completes commands in bash, zsh or fish',
    load: async () => {
      const { completionCommand } = await import('./completion/command.js');
      return run => completionCommand(run, [...COMMANDS, ...GUIDES]);
    },
  },
];

/** A page of src/guides, which is part of the package. No guide has the name of a command. */
interface Guide {
  readonly name: string;
  readonly summary: string;
}

export const GUIDES = [
  { name: 'protocol', summary: 'the messages on the wire' },
  { name: 'calling', summary: 'invoke: arguments, outputs, questions, policy' },
  { name: 'workbench', summary: 'the full screen and its keys' },
  { name: 'fixtures', summary: 'the reference of fixture files' },
  { name: 'mocks', summary: 'mock-tool in tests, CI and containers' },
  { name: 'checking', summary: 'check: rules, cases, reports' },
  { name: 'runtimes', summary: 'check --runtime: scenarios, drivers, agents' },
  { name: 'recording', summary: 'record, transcripts, render, replay' },
  { name: 'sessions', summary: 'agent sessions: platform and client' },
  { name: 'mcp', summary: 'MCP servers and clients' },
  { name: 'peers', summary: 'frameworks it was tried on, and what to set in each' },
  { name: 'systems', summary: 'RAP, agent sessions, LM-Kit and MCP compared' },
  { name: 'coding-agents', summary: 'mcp-server: a coding agent tests the tool that it writes' },
  { name: 'library', summary: 'protocol-cli in your own code' },
  { name: 'on-call', summary: 'a broken tool at night, step by step' },
  { name: 'platforms', summary: 'completion in shells; Windows, macOS, slim images' },
  { name: 'security', summary: 'what is exposed, sent, saved and hidden' },
  { name: 'performance', summary: 'figures of the bench' },
] as const satisfies readonly Guide[];

const TOPICS = [...COMMANDS, ...GUIDES].map(({ name }) => name);

function guidesText(): string {
  const rows = GUIDES.map(({ name, summary }) => `  ${name.padEnd(14)} ${summary}`);
  return `\nGuides (protocol-cli help <name>):\n${rows.join('\n')}\n`;
}

/** `help <topic>`, for a topic that is not a command: prints the guide, or suggests a name. */
function guideCommand(topic: string, run: RunCommand): Command {
  return new Command('help')
    .argument('<topic>')
    .helpOption(false)
    .action(async () => {
      if (!GUIDES.some(({ name }) => name === topic))
        throw usageError(
          `unknown command or guide '${topic}'`,
          didYouMean(topic, TOPICS) || 'protocol-cli help lists the commands and guides.',
        );
      await run(async terminal => (await import('./guide.js')).printGuide(topic, terminal));
    });
}
