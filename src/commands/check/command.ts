import { Command, Option } from 'commander';
import { type Example, examplesText, exitStatusText, guideText } from '../help.js';
import { bearerOption, collect, duration, headerOption, port, publicBase, valueOption } from '../options.js';
import type { RunCommand } from '../run-command.js';
import type { CheckFlags } from './flags.js';
import { reporterOption } from './reporter-option.js';
import { ruleOption } from './rule-option.js';

export const CHECK_EXAMPLES: readonly Example[] = [
  { about: 'is this tool right?', line: 'protocol-cli check http://127.0.0.1:3001' },
  {
    about: 'in CI: start it, call two more operations, write a report',
    line: "protocol-cli check --command 'node server.mjs' --operation deploy --operation build --reporter junit:check.xml",
  },
  {
    about: 'with tests of what it answers',
    line: 'protocol-cli check http://127.0.0.1:3001 --cases cases.yaml',
  },
  { about: 'a saved run: the tool and the runtime', line: 'protocol-cli check run.ndjson' },
  {
    about: 'annotations, and a summary of the job, on GitHub',
    line: 'protocol-cli check http://127.0.0.1:3001 --reporter github',
  },
  { about: 'what does a rule say, and where is it from?', line: 'protocol-cli check --spec TOOL-RETRY' },
];

/** `check`: is a tool right, or what a transcript shows? */
export function checkCommand(run: RunCommand): Command {
  return new Command('check')
    .description(
      'Checks a tool by the requirements of the protocol: calls it in every way that a runtime may, and says what it broke. Only operations marked readOnly are called (but for those that need a login or run long), those named with --operation, and those of --cases. Given a transcript (--save, -o ndjson, record), judges what is in it: the tool and the runtime.',
    )
    .usage('<url | transcript | -> [options]')
    .argument('[subject]', 'base URL of a tool server, or a transcript; - is a transcript on standard input')
    .option('--demo', 'the tool bundled with this program')
    .option('--command <command>', 'start a server that prints {"port":N} first, and stop it afterwards')
    .optionsGroup('What is checked:')
    .addOption(new Option('--side <side>', 'of a transcript: one side alone').choices(['tool', 'runtime']))
    .option('--only <id>', 'this rule (repeatable)', ruleOption)
    .option('--skip <id>', 'all rules but this one (repeatable)', ruleOption)
    .option('--operation <name>', 'call this too, whatever its annotations say (repeatable)', collect)
    .option('--cases <file>', 'calls with what is expected of their results, YAML or JSON')
    .addOption(
      valueOption('--probe-timeout <duration>', 'how long each thing is waited for', duration, 5_000, '5s'),
    )
    .optionsGroup('What counts as a failure:')
    .option('--strict', 'warnings too')
    .option(
      '--expected-failures <file>',
      'rule ids with reasons, YAML or JSON: these may fail; one that passes fails the run',
    )
    .optionsGroup('How the tool is reached, and reaches us:')
    .addOption(headerOption())
    .addOption(bearerOption())
    .addOption(new Option('--callback-host <host>', 'address to listen on').default('127.0.0.1'))
    .option('--callback-port <port>', 'port to listen on; 0 takes any', port, 0)
    .option('--callback-url <base>', 'how the tool reaches the listener; a path is appended', publicBase)
    .option('--allow-host <name>', 'accept this Host header too (repeatable)', collect)
    .optionsGroup('Output:')
    .option(
      '--reporter <format[:file]>',
      'human, json, junit, github or markdown (repeatable; human on stdout unless another is)',
      reporterOption,
    )
    .option('--save <file>', 'write the transcript, secrets redacted')
    .option('-q, --quiet', 'nothing about what is fine')
    .option('--no-color', 'no colours (NO_COLOR works too)')
    .optionsGroup('About the rules:')
    .option('--list', 'every rule, on a line')
    .option('--spec <id>', 'a rule whole, and where it is from (repeatable)', ruleOption)
    .addHelpText(
      'after',
      examplesText(CHECK_EXAMPLES) + exitStatusText([0, 1, 2, 3, 4, 130]) + guideText('checking'),
    )
    .action((subject: string | undefined, flags: Omit<CheckFlags, 'given'>, command: Command) =>
      run(async terminal =>
        (await import('./run.js')).runCheck(subject, { ...flags, given: givenIn(command) }, terminal),
      ),
    );
}

function givenIn(command: Command): string[] {
  return command.options
    .filter(option => command.getOptionValueSource(option.attributeName()) === 'cli')
    .flatMap(({ long }) => long ?? []);
}
