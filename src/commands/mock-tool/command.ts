import { type Command, InvalidArgumentError } from 'commander';
import type { Rate } from '../../mock/responder.js';
import { parseDuration } from '../../util/text.js';
import { COMMAND_STATUS, defineCommand, givenOptions, type RunCommand, SERVER_OUTPUTS } from '../options.js';
import { REPORTER_ROW, readReporter } from '../reporter-option.js';

const RATE = /^(\d{1,9})\s*\/\s*(?:(\d.*)|(ms|s|m|h))$/;

/** Parses `10/s`, `100/m`, `5/10s`. @throws InvalidArgumentError */
function rate(text: string): Rate {
  const [, calls = '', duration, unit = ''] = RATE.exec(text.trim()) ?? [];
  const within = parseDuration(duration ?? `1${unit}`) ?? 0;
  if (Number(calls) > 0 && within > 0) return { calls: Number(calls), within };
  throw new InvalidArgumentError('Give a rate such as 10/s, 100/m or 5/10s.');
}

const SLOWEST = 0.001;

function speed(text: string): number {
  const number = /^\d{1,6}(?:\.\d{1,6})?$/.test(text) ? Number(text) : Number.NaN;
  if (number === 0 || number >= SLOWEST) return number;
  throw new InvalidArgumentError('Give a speed such as 2 or 0.5; 0 removes delays.');
}

/** Parses origins of web pages, as a browser sends them: `http://localhost:6274`. @throws InvalidArgumentError */
function origins(text: string, before: readonly string[] = []): string[] {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`) return [...before, url.origin];
  throw new InvalidArgumentError('Give an origin such as http://localhost:6274.');
}

export function mockToolCommand(run: RunCommand): Command {
  return defineCommand({
    name: 'mock-tool',
    description:
      'Serves fixtures as a tool, and shows every call.\nWith a command after --: runs the command with TOOL_URL set, verifies the calls, and exits.',
    usage: '[files or folders…] [options] [-- command…]',
    arguments: {
      '[file...]':
        'fixture files (YAML or JSON), folders of fixtures, transcripts (default: the bundled demo); after --, a command',
    },
    options: `
      What it answers:
      --demo  the bundled demo
      --handlers <module>  operations in code: an ES module that exports defineTool(…) by default; may export middleware
      --mcp <transport>  serve MCP clients: on stdin and stdout, or at /mcp
      --seed <seed>  seed for faults and delays (default: random, printed)
      --watch  reload the fixtures when they change
      --speed <n>  speed of a replay: 2 is twice as fast, 0 sends at once (default: 1)
      --export <file>  convert transcripts to a new fixture file and exit; - is stdout
      --allow-repeats  execute repeated invocations again
      --rate-limit <rate>  limit such as 10/s or 100/5m; calls over it get an error result
      Where it listens, and where it posts:
      --host <host>  address to listen on
      --port <port>  port to listen on; 0 takes any
      --allow-host <name>  accept this Host header too (repeatable)
      --allow-origin <origin>  with --mcp http: accept web pages of this origin (repeatable)
      --allow-callback <origin>  allow callbacks to this origin (repeatable; this machine is always allowed)
      --max-body <size>  largest invocation
      Deliveries:
      --retries <n>  retries of a callback after a lost connection or 5xx
      --max-pending <n>  callbacks in flight; more are dropped and reported
      --drain <duration>  time for pending deliveries at the end
      --keep <n>  events kept for /__mock__/journal
      Verification:
      --verify  verify at the end: exit 1 on unused fixtures, unmatched calls, undelivered callbacks
      ${REPORTER_ROW}; implies --verify
      --report <format[:file]>  the old name of --reporter (repeatable)
      Output:
      -o, --output <format>  a live list, lines, or every event as data
      --save <file>  write the transcript to a new file
      -q, --quiet  no lines about calls
      --no-color  no colours (NO_COLOR works too)`,
    values: {
      '--mcp': { choices: ['stdio', 'http'] },
      '--speed': { read: speed },
      '--rate-limit': { read: rate },
      '--allow-origin': { read: origins },
      '--max-body': { preset: '10m' },
      '--retries': { preset: '5' },
      '--max-pending': { preset: '10000' },
      '--keep': { preset: '10000' },
      '--reporter': { read: readReporter },
      '--report': { read: readReporter, isHidden: true },
      '--output': { choices: SERVER_OUTPUTS },
    },
    examples: {
      'serve the bundled demo': 'protocol-cli mock-tool --port 3001',
      'serve your own fixtures; reload them when they change':
        'protocol-cli mock-tool fixtures.yaml --port 3001 --watch',
      'in CI: run tests against it, then report unused fixtures and unmatched calls':
        'protocol-cli mock-tool fixtures.yaml --reporter junit:mock-tool.xml -- npm test',
      'replay a transcript, twice as fast': 'protocol-cli mock-tool run.ndjson --speed 2',
      'convert a transcript to fixtures': 'protocol-cli mock-tool run.ndjson --export fixtures.yaml',
      'operations in code': 'protocol-cli mock-tool --handlers tool.mjs',
      'serve the fixtures to MCP clients (with http, MCP_URL is set for the command)':
        'protocol-cli mock-tool fixtures.yaml --mcp stdio',
      'between containers':
        'protocol-cli mock-tool fixtures.yaml --host 0.0.0.0 --port 3001 --allow-host mock --allow-callback http://runtime:3000',
    },
    isServer: true,
    statuses: [0, 1, 2],
    note: COMMAND_STATUS,
    guide: 'mocks',
  }).action((words, flags, command: Command) =>
    run(async terminal =>
      (await import('./run.js')).runMockTool(words, { ...flags, given: givenOptions(command) }, terminal),
    ),
  );
}
