import { Command, Option } from 'commander';
import { DEFAULTS } from '../../tool/defaults.js';
import { type Example, examplesText, exitStatusText, guideText } from '../help.js';
import { byteCount, collect, duration, port, valueOption, wholeNumber } from '../options.js';
import type { RunCommand } from '../run-command.js';
import { MCP_TRANSPORTS } from './mcp/flags.js';
import type { MockToolFlags } from './plan.js';
import { rate } from './rate-option.js';
import { reportOption } from './report-option.js';
import { speed } from './speed-option.js';

export const MOCK_TOOL_EXAMPLES: readonly Example[] = [
  { about: 'serve the bundled demo', line: 'protocol-cli mock-tool --port 3001' },
  {
    about: 'serve your own fixtures, and again whenever they change',
    line: 'protocol-cli mock-tool fixtures.yaml --port 3001 --watch',
  },
  {
    about: 'in CI: run the tests against it, then say what was unused, unmatched or undelivered',
    line: 'protocol-cli mock-tool fixtures.yaml --report junit:mock-tool.xml -- npm test',
  },
  {
    about: 'what was recorded, once more, and twice as fast',
    line: 'protocol-cli mock-tool run.ndjson --speed 2',
  },
  {
    about: 'the same as fixtures to edit',
    line: 'protocol-cli mock-tool run.ndjson --export fixtures.yaml',
  },
  { about: 'operations in code', line: 'protocol-cli mock-tool --handlers tool.mjs' },
  {
    about: 'the same fixtures as an MCP server; with http a command finds it in MCP_URL',
    line: 'protocol-cli mock-tool fixtures.yaml --mcp stdio',
  },
  {
    about: 'between containers',
    line: 'protocol-cli mock-tool fixtures.yaml --host 0.0.0.0 --port 3001 --allow-host mock --allow-callback http://runtime:3000',
  },
];

const COMMAND_STATUS = '  Where the command after -- fails, its own status.\n';

/** `mock-tool`: serves fixtures as a tool. */
export function mockToolCommand(run: RunCommand): Command {
  return new Command('mock-tool')
    .description(
      'Serves fixtures as a tool: every call is answered as they say, and what happened is told.\nWith a command after --, it runs that with TOOL_URL set, verifies, and exits.',
    )
    .usage('[files or folders…] [options] [-- command…]')
    .argument(
      '[words...]',
      'fixture files, YAML or JSON, or folders of them; transcripts to replay, each by its name (default: the bundled demo); after --, a command',
    )
    .optionsGroup('What it answers:')
    .option('--demo', 'the bundled demo, as without a file')
    .option(
      '--handlers <module>',
      'operations in code: an ES module that exports defineTool(…) by default; may export middleware',
    )
    .addOption(
      new Option(
        '--mcp <transport>',
        'serve the same to MCP clients: on stdin and stdout, or at /mcp',
      ).choices(MCP_TRANSPORTS),
    )
    .option(
      '--seed <seed>',
      'for all that is drawn: faults, ranges of delays (default: a random one, printed)',
    )
    .option('--watch', 'read the fixtures again when they change')
    .option('--speed <n>', 'of transcripts: 2 is twice as fast as it was, 0 is at once (default: 1)', speed)
    .option(
      '--export <file>',
      'write transcripts as fixtures to edit, to a new file, and serve nothing; - is stdout',
    )
    .option('--allow-repeats', 'execute an invocation again that is sent again')
    .option(
      '--rate-limit <rate>',
      'of invocations, such as 10/s or 100/5m; what is over it gets an error result',
      rate,
    )
    .optionsGroup('Where it listens, and where it posts:')
    .addOption(new Option('--host <host>', 'address to listen on').default('127.0.0.1'))
    .option('--port <port>', 'port to listen on; 0 takes any', port, 0)
    .option('--allow-host <name>', 'accept this Host header too (repeatable)', collect)
    .option(
      '--allow-callback <origin>',
      'post callbacks there too, not to this machine alone (repeatable)',
      collect,
    )
    .addOption(valueOption('--max-body <size>', 'largest invocation', byteCount, DEFAULTS.maxBody, '10m'))
    .optionsGroup('Deliveries:')
    .option('--retries <n>', 'of a callback that breaks or is answered 5xx', wholeNumber, DEFAULTS.retries)
    .option(
      '--max-pending <n>',
      'callbacks on their way, and no more than 256 MiB of them; what is over it is dropped, and said',
      wholeNumber,
      DEFAULTS.maxPending,
    )
    .addOption(
      valueOption('--drain <duration>', 'for what is pending when it ends', duration, DEFAULTS.drainMs, '5s'),
    )
    .option(
      '--journal <file>',
      'durable: what was acknowledged survives a kill, and is delivered after a restart',
    )
    .option('--fsync', 'with --journal: also survives a power failure')
    .option('--keep <n>', 'events remembered for /__mock__/journal', wholeNumber, DEFAULTS.keep)
    .optionsGroup('Verification:')
    .option('--verify', 'at the end, exit 1 where anything was unused, unmatched or undelivered')
    .option('--report <format[:file]>', 'junit or json (repeatable)', reportOption)
    .optionsGroup('Output:')
    .addOption(
      new Option('-o, --output <format>', 'a live list, lines, or every event as data').choices([
        'ui',
        'plain',
        'ndjson',
      ]),
    )
    .option('-q, --quiet', 'no lines about calls')
    .option('--no-color', 'no colours (NO_COLOR works too)')
    .addHelpText(
      'after',
      examplesText(MOCK_TOOL_EXAMPLES) + exitStatusText([0, 1, 2]) + COMMAND_STATUS + guideText('mocks'),
    )
    .action((words: string[], flags: MockToolFlags, command: Command) =>
      run(async terminal =>
        (await import('./run.js')).runMockTool(words, { ...flags, given: givenIn(command) }, terminal),
      ),
    );
}

function givenIn(command: Command): string[] {
  const names = command.options.map(option => option.attributeName());
  return names.filter(name => command.getOptionValueSource(name) === 'cli');
}
