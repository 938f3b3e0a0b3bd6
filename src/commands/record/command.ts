import { Command, Option } from 'commander';
import { DEFAULTS } from '../../record/recorder.js';
import { type Example, examplesText, exitStatusText, guideText } from '../help.js';
import { byteCount, collect, duration, port, publicBase, type RunCommand, valueOption } from '../options.js';
import type { RecordFlags } from './run.js';

export const RECORD_EXAMPLES: readonly Example[] = [
  {
    about: 'between a runtime and a tool: point the runtime at http://127.0.0.1:3002',
    line: 'protocol-cli record http://127.0.0.1:3001 --port 3002 --save session.ndjson',
  },
  { about: 'as JSON, one line for each event', line: 'protocol-cli record http://127.0.0.1:3001 -o ndjson' },
  {
    about: 'between containers',
    line: 'protocol-cli record http://tool:3001 --save session.ndjson --host 0.0.0.0 --port 3002 --allow-host recorder --callback-url http://recorder:3002 --allow-callback http://runtime:3000',
  },
];

/** `record`: a proxy between a runtime and a tool, which writes down what they say. */
export function recordCommand(run: RunCommand): Command {
  return new Command('record')
    .description(
      'A proxy between a runtime and a tool. Point the runtime at it: it forwards every message, replaces the endpoint, callback URLs and response URLs with its own, and writes a transcript. It never acknowledges or retries on its own.\nIn a pipe, the first line is {"port":N,"url":"…"}.',
    )
    .usage('<url> --save <file> [options]')
    .argument('<url>', 'base URL of the tool server')
    .optionsGroup('Network:')
    .addOption(new Option('--host <host>', 'address to listen on').default('127.0.0.1'))
    .option('--port <port>', 'port to listen on; 0 takes any', port, 0)
    .option('--allow-host <name>', 'accept this Host header too (repeatable)', collect)
    .option('--callback-url <base>', 'base URL at which the tool reaches this recorder', publicBase)
    .option(
      '--allow-callback <origin>',
      'allow callbacks to this origin (repeatable; this machine is always allowed)',
      collect,
    )
    .addOption(valueOption('--max-body <size>', 'largest message', byteCount, DEFAULTS.maxBody, '64m'))
    .addOption(
      valueOption(
        '--drain <duration>',
        'time for messages in flight at the end',
        duration,
        DEFAULTS.drainMs,
        '5s',
      ),
    )
    .optionsGroup('Output:')
    .option('--save <file>', 'write the transcript to a new file, line by line, secrets redacted')
    .addOption(
      new Option('-o, --output <format>', 'one line for each message, or every event as JSON')
        .choices(['plain', 'ndjson'])
        .default('plain'),
    )
    .option('-q, --quiet', 'no lines about messages')
    .option('--no-color', 'no colours (NO_COLOR works too)')
    .addHelpText('after', examplesText(RECORD_EXAMPLES) + exitStatusText([0, 2]) + guideText('recording'))
    .action((url: string, flags: RecordFlags) =>
      run(async terminal => (await import('../lazy.js')).runRecord(url, flags, terminal)),
    );
}
