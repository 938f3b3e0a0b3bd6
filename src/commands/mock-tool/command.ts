import { Command, InvalidArgumentError, Option } from 'commander';
import { DEFAULTS, parseRate, type Rate } from '../../mock/limits.js';

import { type Example, examplesText, exitStatusText, guideText } from '../help.js';
import {
  byteCount,
  collect,
  duration,
  givenOptions,
  origins,
  port,
  type RunCommand,
  SERVER_OUTPUTS,
  valueOption,
  wholeNumber,
} from '../options.js';
import { reportOption } from '../reports.js';
import type { MockToolFlags } from './run.js';

function rate(text: string): Rate {
  const parsed = parseRate(text);
  if (!parsed) throw new InvalidArgumentError('Give a rate such as 10/s, 100/m or 5/10s.');
  return parsed;
}

const SLOWEST = 0.001;

function speed(text: string): number {
  const number = /^\d{1,6}(?:\.\d{1,6})?$/.test(text) ? Number(text) : Number.NaN;
  if (number === 0 || number >= SLOWEST) return number;
  throw new InvalidArgumentError('Give a speed such as 2 or 0.5; 0 removes delays.');
}

export const MOCK_TOOL_EXAMPLES: readonly Example[] = [
  { about: 'serve the bundled demo', line: 'protocol-cli mock-tool --port 3001' },
  {
    about: 'serve your own fixtures; reload them when they change',
    line: 'protocol-cli mock-tool fixtures.yaml --port 3001 --watch',
  },
  {
    about: 'in CI: run tests against it, then report unused fixtures and unmatched calls',
    line: 'protocol-cli mock-tool fixtures.yaml --report junit:mock-tool.xml -- npm test',
  },
  {
    about: 'replay a transcript, twice as fast',
    line: 'protocol-cli mock-tool run.ndjson --speed 2',
  },
  {
    about: 'convert a transcript to fixtures',
    line: 'protocol-cli mock-tool run.ndjson --export fixtures.yaml',
  },
  { about: 'operations in code', line: 'protocol-cli mock-tool --handlers tool.mjs' },
  {
    about: 'serve the fixtures to MCP clients (with http, MCP_URL is set for the command)',
    line: 'protocol-cli mock-tool fixtures.yaml --mcp stdio',
  },
  {
    about: 'between containers',
    line: 'protocol-cli mock-tool fixtures.yaml --host 0.0.0.0 --port 3001 --allow-host mock --allow-callback http://runtime:3000',
  },
];

const COMMAND_STATUS = '  If the command after -- fails, its status.\n';

/** `mock-tool`: serves fixtures as a tool. */
export function mockToolCommand(run: RunCommand): Command {
  return new Command('mock-tool')
    .description(
      'Serves fixtures as a tool, and shows every call.\nWith a command after --: runs the command with TOOL_URL set, verifies the calls, and exits.',
    )
    .usage('[files or folders…] [options] [-- command…]')
    .argument(
      '[words...]',
      'fixture files (YAML or JSON), folders of fixtures, transcripts (default: the bundled demo); after --, a command',
    )
    .optionsGroup('What it answers:')
    .option('--demo', 'the bundled demo')
    .option(
      '--handlers <module>',
      'operations in code: an ES module that exports defineTool(…) by default; may export middleware',
    )
    .addOption(
      new Option('--mcp <transport>', 'serve MCP clients: on stdin and stdout, or at /mcp').choices([
        'stdio',
        'http',
      ]),
    )
    .option('--seed <seed>', 'seed for faults and delays (default: random, printed)')
    .option('--watch', 'reload the fixtures when they change')
    .option('--speed <n>', 'speed of a replay: 2 is twice as fast, 0 sends at once (default: 1)', speed)
    .option('--export <file>', 'convert transcripts to a new fixture file and exit; - is stdout')
    .option('--allow-repeats', 'execute repeated invocations again')
    .option('--rate-limit <rate>', 'limit such as 10/s or 100/5m; calls over it get an error result', rate)
    .optionsGroup('Where it listens, and where it posts:')
    .addOption(new Option('--host <host>', 'address to listen on').default('127.0.0.1'))
    .option('--port <port>', 'port to listen on; 0 takes any', port, 0)
    .option('--allow-host <name>', 'accept this Host header too (repeatable)', collect)
    .option(
      '--allow-origin <origin>',
      'with --mcp http: accept web pages of this origin (repeatable)',
      origins,
    )
    .option(
      '--allow-callback <origin>',
      'allow callbacks to this origin (repeatable; this machine is always allowed)',
      collect,
    )
    .addOption(valueOption('--max-body <size>', 'largest invocation', byteCount, DEFAULTS.maxBody, '10m'))
    .optionsGroup('Deliveries:')
    .option(
      '--retries <n>',
      'retries of a callback after a lost connection or 5xx',
      wholeNumber,
      DEFAULTS.retries,
    )
    .option(
      '--max-pending <n>',
      'callbacks in flight, at most 256 MiB; more are dropped and reported',
      wholeNumber,
      DEFAULTS.maxPending,
    )
    .addOption(
      valueOption(
        '--drain <duration>',
        'time for pending deliveries at the end',
        duration,
        DEFAULTS.drainMs,
        '5s',
      ),
    )
    .option(
      '--journal <file>',
      'durable: acknowledged calls survive a kill and are delivered after a restart',
    )
    .option('--fsync', 'with --journal: survive a power failure too')
    .option('--keep <n>', 'events kept for /__mock__/journal', wholeNumber, DEFAULTS.keep)
    .optionsGroup('Verification:')
    .option(
      '--verify',
      'verify at the end: exit 1 on unused fixtures, unmatched calls, undelivered callbacks',
    )
    .option('--report <format[:file]>', 'junit or json (repeatable)', reportOption)
    .optionsGroup('Output:')
    .addOption(
      new Option('-o, --output <format>', 'a live list, lines, or every event as data').choices(
        SERVER_OUTPUTS,
      ),
    )
    .option('-q, --quiet', 'no lines about calls')
    .option('--no-color', 'no colours (NO_COLOR works too)')
    .addHelpText(
      'after',
      examplesText(MOCK_TOOL_EXAMPLES) + exitStatusText([0, 1, 2]) + COMMAND_STATUS + guideText('mocks'),
    )
    .action((words: string[], flags: MockToolFlags, command: Command) =>
      run(async terminal =>
        (await import('./run.js')).runMockTool(words, { ...flags, given: givenOptions(command) }, terminal),
      ),
    );
}
