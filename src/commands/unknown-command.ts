import { open } from 'node:fs/promises';
import type { Command } from 'commander';

/** Who asks for the help of a command that there is not is told so, as who calls it is: commander would show the help of all of them. */
export function refusingUnknown(program: Command): Command {
  return program.on('beforeAllHelp', ({ command }: { readonly command: Command }) => {
    const unknown = unknownIn(command);
    if (unknown !== undefined) command.parse([unknown], { from: 'user' });
  });
}

/** The word in the place of a command; undefined where there is none, or such a command is there. */
function unknownIn({ args, commands }: Command): string | undefined {
  const [first, second] = args.filter(word => !word.startsWith('-'));
  const name = first === 'help' ? second : first;
  return commands.length === 0 || commands.some(each => each.name() === name) ? undefined : name;
}

/** Bytes that are enough to see whether a file is a transcript. */
const HEAD = 64 * 1024;

/** The words of the command that shows the file which the first word names; the words as they are where it names none. */
export async function wordsForFile(
  words: readonly string[],
  commands: readonly string[],
  isInteractive: boolean,
): Promise<readonly string[]> {
  const [first, ...rest] = words;
  if (first === undefined || first.startsWith('-') || [...commands, 'help'].includes(first)) return words;
  const head = await headOf(first);
  if (head === null) return words;
  const { isTranscript } = await import('../exchange/transcript-signs.js');
  const isFullScreen = isInteractive && rest.length === 0 && isTranscript(head);
  return isFullScreen ? ['invoke', '--interactive', '--open', first] : ['render', ...words];
}

/** Null where there is no such file. */
async function headOf(path: string): Promise<string | null> {
  const file = await open(path).catch(() => null);
  if (!file) return null;
  try {
    if (!(await file.stat()).isFile()) return null;
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD), 0, HEAD, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } catch {
    return null;
  } finally {
    await file.close();
  }
}

/** What other tools call an option: `-d` of curl, `--json` of gh. The first suggestion that the command has is used. */
const OPTIONS_ELSEWHERE: Readonly<Record<string, readonly string[]>> = {
  '--json': ['-o json', '--reporter json'],
  '-j': ['-o json', '--reporter json'],
  '--format': ['-o', '--reporter'],
  '--data': ['--args'],
  '--data-raw': ['--args'],
  '--data-binary': ['--args'],
  '-d': ['--args'],
  '--body': ['--args'],
  '--input': ['--args'],
  '--params': ['--args'],
  '--arg': ['--args'],
  '-a': ['--args'],
  '--token': ['--bearer'],
  '--auth': ['--bearer'],
  '--api-key': ['--bearer', '-H'],
  '-u': ['--bearer', '-H'],
  '--max-time': ['--timeout'],
  '-m': ['--timeout'],
  '-t': ['--timeout'],
  '-w': ['--timeout', '--watch'],
  '--silent': ['-q'],
  '-s': ['-q'],
  '--debug': ['-v'],
  '--trace': ['-v'],
  '-n': ['--repeat'],
  '--count': ['--repeat'],
  '--times': ['--repeat'],
  '-c': ['--concurrency', '--command'],
  '--parallel': ['--concurrency'],
  '--server': ['--command'],
  '--stdio': ['--mcp', '--command'],
  '--transcript': ['--save'],
  '--record': ['--save'],
  '-p': ['--port'],
  '--listen': ['--port'],
  '--bind': ['--host'],
  '--force': ['--yes'],
  '-y': ['--yes'],
};

/** What other tools call a command. */
const COMMANDS_ELSEWHERE: Readonly<Record<string, string>> = {
  mock: 'mock-tool',
  serve: 'mock-tool',
  server: 'mock-tool',
  replay: 'mock-tool',
  call: 'invoke',
  run: 'invoke',
  exec: 'invoke',
  send: 'invoke',
  test: 'check',
  lint: 'check',
  verify: 'check',
  validate: 'check',
  list: 'toolset',
  ls: 'toolset',
  tools: 'toolset',
  discover: 'toolset',
  inspect: 'toolset',
  show: 'render',
  view: 'render',
  open: 'render',
  proxy: 'record',
  capture: 'record',
  watch: 'listen',
  close: 'close-thread',
};

/** Adds what an option or command of another tool is called here, in place of commander's guess by spelling. */
export function suggestingNames(command: Command): Command {
  return command.configureOutput({
    outputError: (text, write) => write(withSuggestion(text, command)),
  });
}

function withSuggestion(text: string, command: Command): string {
  const [, what, word = ''] = /^error: unknown (option|command)(?: or guide)? '([^']*)'/.exec(text) ?? [];
  const found = what === 'option' ? optionFor(word, command) : what && commandFor(word, command);
  if (!found) return text;
  const [first, ...rest] = text.split('\n').filter(line => !line.startsWith('(Did you mean '));
  return [first, `(Did you mean ${found}?)`, ...rest].join('\n');
}

function optionFor(word: string, { options }: Command): string | undefined {
  const name = word.startsWith('--') ? word.replace(/=.*/s, '') : word.slice(0, 2);
  const candidates = Object.hasOwn(OPTIONS_ELSEWHERE, name) ? OPTIONS_ELSEWHERE[name] : undefined;
  return candidates?.find(candidate => {
    const [flag, value] = candidate.split(' ');
    const option = options.find(({ short, long }) => short === flag || long === flag);
    return option !== undefined && (value === undefined || (option.argChoices?.includes(value) ?? true));
  });
}

function commandFor(word: string, { commands, parent }: Command): string | undefined {
  const name = Object.hasOwn(COMMANDS_ELSEWHERE, word) ? COMMANDS_ELSEWHERE[word] : undefined;
  return [...commands, ...(parent?.commands ?? [])].some(each => each.name() === name) ? name : undefined;
}
