import { Command, Option } from 'commander';
import { type Example, examplesText, exitStatusText, guideText } from '../../help.js';
import { collect, port } from '../../options.js';
import type { RunCommand } from '../../run-command.js';
import { SESSION_MOCK_OUTPUTS, type SessionMockFlags } from './plan.js';

export const SESSION_MOCK_EXAMPLES: readonly Example[] = [
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
export function mockCommand(run: RunCommand): Command {
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
        SESSION_MOCK_OUTPUTS,
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
      run(async terminal => (await import('./run.js')).runSessionMock(words, flags, terminal)),
    );
}
