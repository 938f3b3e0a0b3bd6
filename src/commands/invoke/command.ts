import { Command, Option } from 'commander';
import { DIALECT_NAMES } from '../../dialects/dialect.js';
import { type Example, examplesText, exitStatusText, guideText } from '../help.js';
import {
  bearerOption,
  chooseOption,
  collect,
  duration,
  givenOptions,
  headerOption,
  maxBodyOption,
  outputOption,
  port,
  publicBase,
  type RunCommand,
  repeats,
  sideBySide,
  supportsOption,
  valueOption,
  wholeNumber,
} from '../options.js';
import { idleText } from './idle-options.js';

export const INVOKE_EXAMPLES: readonly Example[] = [
  { about: 'try it with the bundled tool', line: 'protocol-cli invoke --demo' },
  {
    about: 'call a tool that listens on this machine',
    line: 'protocol-cli invoke http://127.0.0.1:3001 edit_file path=src/main.rs',
  },
  {
    about: 'values get their type from the schema; := takes JSON, =@ a file',
    line: 'protocol-cli invoke :3001 deploy service=api replicas=2 labels:=\'{"a":1}\' notes=@notes.md',
  },
  {
    about: 'start the server, call it, stop it',
    line: "protocol-cli invoke --command 'node server.mjs' edit_file path=a.txt",
  },
  {
    about: 'pipe exactly what the LLM gets to another program',
    line: "protocol-cli invoke :3001 list_instances -o text | jq '.count'",
  },
  {
    about: 'stay for the events of a subscription',
    line: 'protocol-cli invoke :3001 watch repo=api --follow',
  },
  {
    about: "answer the tool's question",
    line: "protocol-cli invoke --demo write_outside path=a.txt --choose 'Yes, once'",
  },
  {
    about: 'many calls at once: are any ids mixed up?',
    line: 'protocol-cli invoke :3001 echo text=hi --repeat 100 --concurrency 10',
  },
  {
    about: "the outcome for LM-Kit's records",
    line: 'protocol-cli invoke :3001 echo text=hi -o json --dialect lmkit',
  },
  {
    about: 'call a tool of an MCP server',
    line: "protocol-cli invoke --mcp 'node server.mjs' get-sum a=1 b=2",
  },
  {
    about: 'the workbench: choose, fill in, call, repeat',
    line: 'protocol-cli invoke -i :3001 edit_file path=a.txt',
  },
  { about: 'print the request without sending it', line: 'protocol-cli invoke :3001 delete_all --dry-run' },
];

/** `invoke`: calls a tool and shows what comes back. */
export function invokeCommand(run: RunCommand): Command {
  return new Command('invoke')
    .description(
      'Calls a tool: fetches its toolset, sends one invocation, waits for the callback, and shows what the human sees beside what the LLM gets.',
    )
    .usage('[url] [operation] [key=value…] [options]')
    .argument(
      '[words...]',
      'base URL of the tool server (not with --demo, --command or --mcp), operation, arguments',
    )
    .optionsGroup('Which tool:')
    .option('--demo', 'call the tool bundled with this program')
    .option(
      '--command <command>',
      'start a server that prints {"port":N} on its first line; stop it at the end',
    )
    .option('--watch', 'with --command: restart the server when its files change, and call again')
    .option('--endpoint', 'the URL is the invocation endpoint; skip discovery')
    .option('--mcp <url|command>', 'call a tool of an MCP server: its endpoint, or a command that starts it')
    .addOption(headerOption())
    .addOption(bearerOption())
    .optionsGroup('Arguments of the operation:')
    .option('--args <json|@file|->', 'all arguments at once')
    .option('--no-validate', 'send arguments that do not match the schema')
    .addOption(new Option('--open <file>', 'with -i: show this transcript').hideHelp())
    .option('-i, --interactive', 'open the workbench, with the form of the operation filled in')
    .option('--dry-run', 'print the request and its curl form; send nothing')
    .optionsGroup('Identity:')
    .option('--id <id>', 'id of the call (default: a fresh one)')
    .option('--call-id <id>', 'secondary id; the tool sends it back')
    .option('--group-id <id>', 'conversation thread (default: a fresh one, closed at the end)')
    .option('--user-id <id>', 'end user of the call')
    .option('--ancestor <id>', 'ancestor thread, root first (repeatable)', collect)
    .option('--no-close', 'do not send /close_thread at the end for a thread made up here')
    .optionsGroup('Waiting:')
    .addOption(
      valueOption(
        '--timeout <duration>',
        'time to wait for the result: 500ms, 2s, 5m, 1h; 0 waits forever',
        duration,
        60_000,
        '60s',
      ),
    )
    .option('--retries <n>', 'how often to retry if the tool is unreachable or answers 5xx', wholeNumber, 2)
    .option('--linger <duration>', 'stay after the result, to see late messages', duration)
    .option('--follow', 'show the events of a subscription until the last one or Ctrl-C')
    .option('--repeat <n>', 'make the call n times: one line each, then a summary', repeats)
    .option('--concurrency <n>', 'with --repeat: parallel calls (default: 1)', sideBySide)
    .option('--lenient-ack', 'accept any 2xx as acknowledgement')
    .optionsGroup('Callback listener:')
    .option('--callback-host <host>', 'address to listen on', '127.0.0.1')
    .option('--callback-port <port>', 'port to listen on; 0 takes any', port, 0)
    .option('--callback-url <base>', 'base URL at which the tool reaches this listener', publicBase)
    .option('--allow-host <name>', 'accept this Host header too (repeatable)', collect)
    .addOption(maxBodyOption())
    .optionsGroup('People:')
    .addOption(chooseOption())
    .option('--yes', 'do not ask before a destructive tool')
    .option('--policy <file>', 'file with allow and deny rules for operations')
    .addOption(supportsOption())
    .optionsGroup('Output:')
    .addOption(outputOption())
    .addOption(
      new Option('--dialect <name>', 'print the outcome in the format of another system').choices(
        DIALECT_NAMES,
      ),
    )
    .option('--save <file>', 'write the transcript, secrets redacted')
    .option('-q, --quiet', 'no warnings')
    .option('-v, --verbose', 'show every message on stderr, secrets redacted')
    .option('--no-color', 'no colours (NO_COLOR works too)')
    .addHelpText(
      'after',
      idleText('--mcp') +
        idleText('--interactive') +
        examplesText(INVOKE_EXAMPLES) +
        exitStatusText([0, 2, 4, 5, 6, 7, 129, 130, 143]) +
        guideText('calling'),
    )
    .action((words, options, command) =>
      run(async terminal => {
        const { startInvoke } = await import('./run.js');
        return startInvoke(words, { ...options, given: givenOptions(command) }, terminal);
      }),
    );
}
