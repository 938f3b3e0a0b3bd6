import { Command, InvalidArgumentError, Option } from 'commander';
import type { CallIds } from '../../runtime/callback-server.js';
import { type Example, examplesText, exitStatusText, guideText } from '../help.js';
import {
  collect,
  duration,
  maxBodyOption,
  port,
  publicBase,
  type RunCommand,
  supportsOption,
  valueOption,
  wholeNumber,
} from '../options.js';
import type { ListenFlags } from './run.js';

/** `--expect <group_id>/<id>`; the last slash parts them. */
export function expectation(text: string, before: readonly CallIds[] = []): readonly CallIds[] {
  const slash = text.lastIndexOf('/');
  const ids = { groupId: text.slice(0, Math.max(0, slash)), id: text.slice(slash + 1) };
  if (ids.groupId === '' || ids.id === '')
    throw new InvalidArgumentError('It takes a group_id and an id: thread_1/call_1.');
  return [...before, ids];
}

export const LISTEN_EXAMPLES: readonly Example[] = [
  { about: 'show everything that tools post, until Ctrl-C', line: 'protocol-cli listen --port 4000' },
  {
    about: 'in a script: wait for the results of two calls of another program',
    line: 'protocol-cli listen --expect thread_1/call_1 --expect thread_1/call_2 --count 2 --timeout 30s',
  },
  {
    about: 'as JSON, one line for each callback',
    line: 'protocol-cli listen -o json | jq -r \'select(.verdict == "settles").llm.text\'',
  },
  {
    about: 'between containers',
    line: 'protocol-cli listen --host 0.0.0.0 --port 4000 --callback-url http://listener:4000',
  },
];

/** `listen`: takes the callbacks of calls that other programs make. */
export function listenCommand(run: RunCommand): Command {
  return new Command('listen')
    .description(
      'A callback listener: prints its callback_url, shows what tools post there, and reports for each message whether it would have matched a pending call.\nIn a pipe, the first line is {"port":N,"url":"…","callback_url":"…"}.',
    )
    .usage('[options]')
    .optionsGroup('Network:')
    .addOption(new Option('--host <host>', 'address to listen on').default('127.0.0.1'))
    .option('--port <port>', 'port to listen on; 0 takes any', port, 0)
    .option('--callback-url <base>', 'base URL at which tools reach this listener', publicBase)
    .option('--allow-host <name>', 'accept this Host header too (repeatable)', collect)
    .addOption(maxBodyOption())
    .optionsGroup('Expected calls:')
    .option(
      '--expect <group_id/id>',
      'accept callbacks of this call only (repeatable; default: any)',
      expectation,
    )
    .option('--group-id <id>', 'with --id: the same, for ids with a slash')
    .option('--id <id>', 'id of the call')
    .optionsGroup('End:')
    .option('--count <n>', 'stop after this many results (default: never)', wholeNumber)
    .addOption(
      valueOption(
        '--timeout <duration>',
        'stop after this time, such as 30s, 5m; 0: no limit. Exit status 7 if an expected result is missing',
        duration,
        0,
        '0',
      ),
    )
    .optionsGroup('Output:')
    .addOption(
      new Option('-o, --output <format>', 'text, one JSON line for each callback, or a transcript')
        .choices(['plain', 'json', 'ndjson'])
        .default('plain'),
    )
    .addOption(supportsOption())
    .option('--save <file>', 'write the transcript, secrets redacted')
    .option('-q, --quiet', 'no warnings')
    .option('--no-color', 'no colours (NO_COLOR works too)')
    .addHelpText('after', examplesText(LISTEN_EXAMPLES) + exitStatusText([0, 2, 7]) + guideText('protocol'))
    .action((flags: ListenFlags) =>
      run(async terminal => (await import('../lazy.js')).runListen(flags, terminal)),
    );
}
