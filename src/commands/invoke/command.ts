import type { Command } from 'commander';
import { DIALECT_NAMES } from '../../dialects/dialect.js';
import { MCP_VERSIONS } from '../../protocol/mcp-versions.js';
import { defineCommand, givenOptions, type RunCommand, usageError, wholeNumber } from '../options.js';
import { OUTPUTS } from '../terminal.js';

/** Limited because each call is kept until the end. */
const MAX_REPEATS = 10_000;

const MAX_CONCURRENCY = 1_000;

/** Options that have no effect beside another option, grouped by reason. */
const INEFFECTIVE: Readonly<Record<'--mcp' | '--interactive', Readonly<Record<string, string>>>> = {
  '--mcp': {
    'the tool is that of --mcp': '--demo --command --watch --endpoint',
    'MCP has no threads, and no ids but those of JSON-RPC':
      '--call-id --group-id --user-id --ancestor --no-close',
    'tools/call is sent once, and answered once':
      '--retries --lenient-ack --linger --follow --repeat --concurrency',
    'MCP has no callbacks: the answer to tools/call is the result':
      '--callback-host --callback-port --callback-url --allow-host',
    'MCP has no display segments to choose from': '--supports',
  },
  '--interactive': {
    'the workbench needs the toolset of a RAP server': '--endpoint --mcp',
    'each call has ids of its own, and its thread is closed when you quit': '--id --call-id --no-close',
    'you decide it for each call on the screen': '--no-validate --dry-run --repeat --concurrency --choose',
    'it stays until you quit': '--linger --follow',
    'it is drawn on the terminal': '--output --dialect --quiet --verbose',
  },
};

/** @throws ProtocolCliError `usage` for options that would have no effect. */
function refuseIneffective(beside: keyof typeof INEFFECTIVE, given: readonly string[]): void {
  const reasons = Object.entries(INEFFECTIVE[beside]);
  const idle = given.flatMap(option => {
    const [reason] = reasons.find(([, options]) => options.split(' ').includes(option)) ?? [];
    return reason === undefined ? [] : [{ option, reason }];
  });
  if (idle.length === 0) return;
  throw usageError(
    `${idle.map(({ option }) => option).join(', ')} cannot be combined with ${beside}`,
    `Leave ${idle.length === 1 ? 'it' : 'them'} out; \`protocol-cli invoke --help\` lists all of these.`,
    idle.map(({ option, reason }) => `${option}: ${reason}`),
  );
}

export function invokeCommand(run: RunCommand): Command {
  return defineCommand({
    name: 'invoke',
    description:
      'Calls a tool: fetches its toolset, sends one invocation, waits for the callback, and shows what the human sees beside what the LLM gets.',
    usage: '[url] [operation] [key=value…] [options]',
    arguments: {
      '[url]': 'base URL of the tool server; leave it out with --demo, --command and --mcp',
      '[operation]': 'operation to call',
      '[key=value...]': 'its arguments: key=value, typed by the schema; key:=json; key=@file',
    },
    options: `
      Which tool:
      --demo  call the tool bundled with this program
      --command <command>  start a server that prints {"port":N}, or serves the URL; stop it at the end
      --ready-timeout <duration>  time for the server of --command to start (default: 10s)
      --watch  with --command: restart the server when its files change, and call again
      --endpoint  the URL is the invocation endpoint; skip discovery
      --mcp <url|command>  call a tool of an MCP server: its endpoint, or a command that starts it
      --mcp-version <version>  with --mcp: the version of MCP to use (default: the newest that both sides support)
      -H, --header <name: value>  header, sent to the origin of the URL only (repeatable); a value of env:NAME reads a variable
      --bearer <token>  bearer token, sent to the origin of the URL only; env:NAME reads a variable
      Arguments of the operation:
      --args <json|@file|->  all arguments at once
      --no-validate  send arguments that do not match the schema
      --open <file>  with -i: show this transcript
      -i, --interactive  open the workbench, with the form of the operation filled in
      --dry-run  print the request and its curl form; send nothing
      Identity:
      --id <id>  id of the call (default: a fresh one)
      --call-id <id>  secondary id; the tool sends it back
      --group-id <id>  conversation thread (default: a fresh one, closed at the end)
      --user-id <id>  end user of the call
      --ancestor <id>  ancestor thread, root first (repeatable)
      --no-close  leave the thread open: send no /close_thread at the end
      Waiting:
      --timeout <duration>  time for the start and the toolset (at most 10s each) and for the result: 500ms, 2s, 5m, 1h; 0 waits forever
      --retries <n>  how often to retry if the tool is unreachable or answers 5xx
      --linger <duration>  stay after the result, to see late messages
      --follow  show the events of a subscription until the last one or Ctrl-C; a --timeout that you give limits the wait for each event
      --repeat <n>  make the call n times: one line each, then a summary
      --concurrency <n>  with --repeat: parallel calls (default: 1)
      --lenient-ack  accept any 2xx as acknowledgement
      Callback listener:
      --callback-host <host>  address to listen on
      --callback-port <port>  port to listen on; 0 takes any
      --callback-url <base>  base URL at which the tool reaches this listener
      --allow-host <name>  accept this Host header too (repeatable)
      --max-body <size>  largest callback, such as 512k, 64m
      People:
      --choose <choice>  answer to a question: index from 0, label, default, or JSON for an MCP form (repeatable)
      --yes  do not ask before a destructive tool
      --policy <file>  file with allow and deny rules for operations
      --supports <types>  emulate a client that draws only these segments: diff, text, image
      Output:
      -o, --output <format>  live view, LLM text, plain lines, or JSON
      --dialect <name>  print the outcome in the format of another system
      --save <file>  write the transcript, secrets redacted
      -q, --quiet  no warnings
      -v, --verbose  show every message on stderr, secrets redacted
      --no-color  no colours (NO_COLOR works too)`,
    values: {
      '--open': { isHidden: true },
      '--timeout': { preset: '60s' },
      '--repeat': { read: wholeNumber(1, MAX_REPEATS) },
      '--concurrency': { read: wholeNumber(1, MAX_CONCURRENCY) },
      '--output': { choices: OUTPUTS },
      '--dialect': { choices: DIALECT_NAMES },
      '--mcp-version': { choices: MCP_VERSIONS },
    },
    preface: ineffectiveText('--mcp') + ineffectiveText('--interactive'),
    examples: {
      'try it with the bundled tool': 'protocol-cli invoke --demo',
      'call a tool that listens on this machine':
        'protocol-cli invoke http://127.0.0.1:3001 edit_file path=src/main.rs',
      'values get their type from the schema; := takes JSON, =@ a file':
        'protocol-cli invoke :3001 deploy service=api replicas=2 labels:=\'{"a":1}\' notes=@notes.md',
      'start the server, call it, stop it':
        'protocol-cli invoke --command "node server.mjs" edit_file path=a.txt',
      'pipe exactly what the LLM gets to another program':
        "protocol-cli invoke :3001 list_instances -o text | jq '.count'",
      'stay for the events of a subscription': 'protocol-cli invoke :3001 watch repo=api --follow',
      "answer the tool's question":
        "protocol-cli invoke --demo write_outside path=a.txt --choose 'Yes, once'",
      'many calls at once: are any ids mixed up?':
        'protocol-cli invoke :3001 echo text=hi --repeat 100 --concurrency 10',
      "the outcome for LM-Kit's records": 'protocol-cli invoke :3001 echo text=hi -o json --dialect lmkit',
      'call a tool of an MCP server': 'protocol-cli invoke --mcp "node server.mjs" get-sum a=1 b=2',
      'the workbench: choose, fill in, call, repeat': 'protocol-cli invoke -i :3001 edit_file path=a.txt',
      'print the request without sending it': 'protocol-cli invoke :3001 delete_all --dry-run',
    },
    statuses: [0, 2, 4, 5, 6, 7],
    guide: 'calling',
  }).action((url, operation, args, options, command: Command) =>
    run(async terminal => {
      const words = [url, operation, ...args].filter(word => word !== undefined);
      const given = givenOptions(command);
      const refuse = () => {
        if (options.interactive) refuseIneffective('--interactive', given);
        else if (options.mcp !== undefined) refuseIneffective('--mcp', given);
      };
      const { startInvoke } = await import('./run.js');
      return startInvoke(words, { ...options, given }, terminal, refuse);
    }),
  );
}

/** Formats the list for the help. */
function ineffectiveText(beside: keyof typeof INEFFECTIVE): string {
  const lines = Object.values(INEFFECTIVE[beside])
    .join(' ')
    .replace(/(.{1,73})(?: |$)/g, '    $1\n');
  return `\nOptions that cannot be combined with ${beside}:\n${lines}`;
}
