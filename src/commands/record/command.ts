import { Command, Option } from 'commander';
import { DEFAULTS } from '../../recorder/options.js';
import { type Example, examplesText, exitStatusText, guideText } from '../help.js';
import { byteCount, collect, duration, port, publicBase, valueOption } from '../options.js';
import type { RunCommand } from '../run-command.js';
import { RECORD_OUTPUTS, type RecordFlags } from './plan.js';

export const RECORD_EXAMPLES: readonly Example[] = [
  {
    about: 'between a runtime and a tool: point the runtime at http://127.0.0.1:3002',
    line: 'protocol-cli record http://127.0.0.1:3001 --port 3002 --save session.ndjson',
  },
  { about: 'as data, a line for each event', line: 'protocol-cli record http://127.0.0.1:3001 -o ndjson' },
  {
    about: 'between containers',
    line: 'protocol-cli record http://tool:3001 --save session.ndjson --host 0.0.0.0 --port 3002 --allow-host recorder --callback-url http://recorder:3002 --allow-callback http://runtime:3000',
  },
];

/** `record`: a proxy between a runtime and a tool, which writes down what they say. */
export function recordCommand(run: RunCommand): Command {
  return new Command('record')
    .description(
      'A proxy that a runtime is pointed at instead of the tool: passes on what either says, with its own address in place of the endpoint, of callback URLs and of response URLs, and writes a transcript. It never acknowledges or retries by itself.\nIn a pipe, the first line is {"port":N,"url":"…"}.',
    )
    .usage('<url> --save <file> [options]')
    .argument('<url>', 'base URL of the tool server')
    .optionsGroup('Where it listens, and where it posts:')
    .addOption(new Option('--host <host>', 'address to listen on').default('127.0.0.1'))
    .option('--port <port>', 'port to listen on; 0 takes any', port, 0)
    .option('--allow-host <name>', 'accept this Host header too (repeatable)', collect)
    .option(
      '--callback-url <base>',
      'how the tool reaches this recorder; a path with a token is appended',
      publicBase,
    )
    .option(
      '--allow-callback <origin>',
      'pass callbacks on there too, not to this machine alone (repeatable)',
      collect,
    )
    .addOption(valueOption('--max-body <size>', 'largest message', byteCount, DEFAULTS.maxBody, '64m'))
    .addOption(
      valueOption(
        '--drain <duration>',
        'for what is on its way when it ends',
        duration,
        DEFAULTS.drainMs,
        '5s',
      ),
    )
    .optionsGroup('Output:')
    .option('--save <file>', 'write the transcript to a new file, line by line, secrets redacted')
    .addOption(
      new Option('-o, --output <format>', 'a line for each message, or every event as data')
        .choices(RECORD_OUTPUTS)
        .default('plain'),
    )
    .option('-q, --quiet', 'no lines about messages')
    .option('--no-color', 'no colours (NO_COLOR works too)')
    .addHelpText('after', examplesText(RECORD_EXAMPLES) + exitStatusText([0, 2]) + guideText('recording'))
    .action((url: string, flags: RecordFlags) =>
      run(async terminal => (await import('../seldom.js')).runRecord(url, flags, terminal)),
    );
}
