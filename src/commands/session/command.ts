import { Command, Option } from 'commander';
import { type Example, examplesText, exitStatusText, guideText } from '../help.js';
import {
  ANSWER_OUTPUTS,
  chooseOption,
  collect,
  duration,
  maxBodyOption,
  port,
  publicBase,
  type RunCommand,
  SERVER_OUTPUTS,
  supportsOption,
  valueOption,
  wholeNumber,
} from '../options.js';
import type { AnswerFlags } from './answer.js';
import type { SessionMockFlags } from './mock.js';

const SESSION_ANSWER_EXAMPLES: readonly Example[] = [
  {
    about: 'let a RAP tool serve the agent',
    line: 'protocol-cli session answer http://127.0.0.1:3002 session_1 --tool http://127.0.0.1:3001',
  },
  {
    about: 'answer from fixtures, as mock-tool has them',
    line: 'protocol-cli session answer http://127.0.0.1:3002 session_1 --fixtures fixtures.yaml',
  },
  {
    about: 'answer with code; the key comes from the environment',
    line: 'HAI_API_KEY=… protocol-cli session answer https://agp.example.com 4f1c --handlers tool.mjs',
  },
  {
    about: 'only what the policy allows; the outcome as one JSON object',
    line: 'protocol-cli session answer :3002 session_1 --tool :3001 --policy policy.yaml -o json',
  },
];

/** `session answer`: the client's side of agent sessions (seed 001). */
function answerCommand(run: RunCommand): Command {
  return new Command('answer')
    .summary('client: answer the calls of a session with a RAP tool, fixtures or code')
    .description(
      'Waits until the session needs results, answers all pending calls in one post, and continues until the session settles.',
    )
    .usage('<base-url> <session-id> (--tool <url> | --fixtures <file> | --handlers <module>) [options]')
    .argument('<base-url>', 'base URL of the platform, without /api/v2; :3002 is this machine')
    .argument('<session-id>')
    .optionsGroup('The platform:')
    .option(
      '--key <key>',
      'API key; env:NAME reads it from the environment (default: API_KEY, then HAI_API_KEY)',
    )
    .addOption(valueOption('--wait <duration>', 'stop after this time without news', duration, 0, 'forever'))
    .optionsGroup('Answers:')
    .option('--tool <url>', 'a RAP tool; each call becomes an invocation')
    .option('--fixtures <file>', 'fixtures, or a folder of them (repeatable)', collect)
    .option('--handlers <module>', 'operations in code: an ES module that exports defineTool(…) by default')
    .option('--seed <seed>', 'seed for the fixtures')
    .optionsGroup('Each call:')
    .addOption(
      valueOption('--timeout <duration>', 'time for a result; 0 waits forever', duration, 60_000, '60s'),
    )
    .option('--policy <file>', 'file with allow and deny rules for operations')
    .option('--yes', 'do not ask before a destructive tool')
    .addOption(chooseOption())
    .optionsGroup('With --tool:')
    .option('--tool-header <name: value>', "header, sent to the tool's origin only (repeatable)", collect)
    .option(
      '--tool-bearer <token>',
      "bearer token, sent to the tool's origin only; env:NAME reads a variable",
    )
    .option('--parse-json', 'post a text that is JSON as JSON, not as a string')
    .option('--no-validate', 'send arguments that do not match the schema')
    .option('--retries <n>', 'how often to retry if the tool is unreachable or answers 5xx', wholeNumber, 2)
    .option('--lenient-ack', 'accept any 2xx as acknowledgement')
    .option('--callback-host <host>', 'address to listen on', '127.0.0.1')
    .option('--callback-port <port>', 'port to listen on; 0 takes any', port, 0)
    .option('--callback-url <base>', 'base URL at which the tool reaches this listener', publicBase)
    .option('--allow-host <name>', 'accept this Host header too (repeatable)', collect)
    .addOption(maxBodyOption())
    .addOption(supportsOption())
    .optionsGroup('Output:')
    .addOption(
      new Option(
        '-o, --output <format>',
        'live view, lines, one JSON object, or every event as JSON',
      ).choices(ANSWER_OUTPUTS),
    )
    .option('--save <file>', 'write the transcript of both sides, secrets redacted')
    .option('-q, --quiet', 'no lines about calls, no warnings')
    .option('-v, --verbose', 'show every message on stderr, redacted')
    .option('--no-color', 'no colours (NO_COLOR works too)')
    .addHelpText(
      'after',
      examplesText(SESSION_ANSWER_EXAMPLES) +
        exitStatusText([0, 2, 4, 5, 7, 129, 130, 143]) +
        guideText('sessions'),
    )
    .action((base: string, session: string, flags: AnswerFlags) =>
      run(async terminal => (await import('./answer.js')).runSessionAnswer([base, session], flags, terminal)),
    );
}

const SESSION_MOCK_EXAMPLES: readonly Example[] = [
  {
    about: 'a session that waits for one call of lookup_order',
    line: 'protocol-cli session mock --port 3002 --key secret',
  },
  { about: 'your own agent, as a script', line: 'protocol-cli session mock order.yaml --port 3002' },
  {
    about: 'in CI: run the client against it, then report unanswered, unexpected and refused results',
    line: 'protocol-cli session mock order.yaml -- npm test',
  },
  {
    about: 'every event as JSON',
    line: 'protocol-cli session mock order.yaml -o ndjson',
  },
];

const COMMAND_STATUS = '  If the command after -- fails, its status.\n';

/** `session mock`: the platform's side of agent sessions (seed 001). */
function mockCommand(run: RunCommand): Command {
  return new Command('mock')
    .summary('mock platform: a script plays the agent, your client answers')
    .description(
      'Serves /api/v2/sessions: a script plays the agent, and a client answers its calls. One session exists from the start; each new session plays the script again.\nWith a command after --: runs the command with SESSION_URL, SESSION_ID and API_KEY set, verifies, and exits.\nIn a pipe, the first line is {"port":N,"url":"…","key":"…","session":"…"}.',
    )
    .usage('[file] [options] [-- command…]')
    .argument(
      '[words...]',
      'a session script, YAML or JSON (default: one call of lookup_order); after --, a command',
    )
    .optionsGroup('Network:')
    .addOption(new Option('--host <host>', 'address to listen on').default('127.0.0.1'))
    .option('--port <port>', 'port to listen on; 0 takes any', port, 0)
    .option('--allow-host <name>', 'accept this Host header too (repeatable)', collect)
    .option(
      '--key <key>',
      'API key that clients send; env:NAME reads a variable (default: API_KEY, else random, printed)',
    )
    .optionsGroup('Verification:')
    .option('--verify', 'verify at the end: exit 1 on unanswered, unexpected or refused results')
    .optionsGroup('Output:')
    .addOption(
      new Option('-o, --output <format>', 'a live list, lines, or every event as data').choices(
        SERVER_OUTPUTS,
      ),
    )
    .option('--save <file>', 'write the transcript, without the key')
    .option('-q, --quiet', 'no lines about calls')
    .option('--no-color', 'no colours (NO_COLOR works too)')
    .addHelpText(
      'after',
      examplesText(SESSION_MOCK_EXAMPLES) +
        exitStatusText([0, 1, 2]) +
        COMMAND_STATUS +
        guideText('sessions'),
    )
    .action((words: string[], flags: SessionMockFlags) =>
      run(async terminal => (await import('./mock.js')).runSessionMock(words, flags, terminal)),
    );
}

export const SESSION_EXAMPLES: readonly Example[] = [
  {
    about: 'try your client against a scripted agent',
    line: 'protocol-cli session mock --port 3002 --key secret',
  },
  {
    about: 'let a RAP tool answer the agent of a platform',
    line: 'protocol-cli session answer :3002 session_1 --tool :3001',
  },
  { about: 'all options', line: 'protocol-cli session mock --help' },
];

/** `session`: both sides of the agent-session API. */
export function sessionCommand(run: RunCommand): Command {
  return new Command('session')
    .description(
      'Agent sessions: an agent runs on a platform, and a client answers its tool calls.\n`session mock` is a platform for testing a client; `session answer` is a client.',
    )
    .usage('<command> [options]')
    .addCommand(mockCommand(run))
    .addCommand(answerCommand(run))
    .addHelpText('after', examplesText(SESSION_EXAMPLES) + guideText('sessions'));
}
