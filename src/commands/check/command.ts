import { Command, InvalidArgumentError, Option } from 'commander';
import { isRequirementId, type RequirementId, suggestRequirement } from '../../protocol/requirements.js';
import { type Example, examplesText, exitStatusText, guideText } from '../help.js';
import {
  bearerOption,
  collect,
  duration,
  givenOptions,
  headerOption,
  port,
  publicBase,
  type RunCommand,
  valueOption,
} from '../options.js';
import { reporterOption } from '../reports.js';

/** Reads the id of a rule, one more each time, in any case. @throws InvalidArgumentError with those that are near */
export function ruleOption(text: string, before: readonly RequirementId[] = []): readonly RequirementId[] {
  const id = text.toUpperCase();
  if (isRequirementId(id)) return [...before, id];
  if (id.includes(','))
    throw new InvalidArgumentError(`unknown rule "${text}": one at a time, give the option once for each.`);
  throw new InvalidArgumentError(`unknown rule "${text}". ${suggestRequirement(text)}`);
}

export const CHECK_EXAMPLES: readonly Example[] = [
  { about: 'check a tool', line: 'protocol-cli check http://127.0.0.1:3001' },
  {
    about: 'in CI: start the tool, call two more operations, write a report',
    line: "protocol-cli check --command 'node server.mjs' --operation deploy --operation build --reporter junit:check.xml",
  },
  {
    about: 'while you work on a tool',
    line: "protocol-cli check --command 'node server.mjs' --watch -q",
  },
  {
    about: 'with your own test cases',
    line: 'protocol-cli check http://127.0.0.1:3001 --cases cases.yaml',
  },
  { about: 'check a transcript: tool and runtime', line: 'protocol-cli check run.ndjson' },
  {
    about: 'annotations and a job summary on GitHub',
    line: 'protocol-cli check http://127.0.0.1:3001 --reporter github',
  },
  { about: 'one rule and its source', line: 'protocol-cli check --spec TOOL-RETRY' },
];

/** `check`: is a tool right, or what a transcript shows? */
export function checkCommand(run: RunCommand): Command {
  return new Command('check')
    .description(
      'Checks a tool against the requirements of the protocol: calls it in every way that a runtime may, and reports violations. Only operations marked readOnly are called (except those that need a login or run long), those given with --operation, and those of --cases. With a transcript (--save, -o ndjson, record): checks the tool and the runtime in it.',
    )
    .usage('<url | transcript | -> [options]')
    .argument('[subject]', 'base URL of a tool server, or a transcript; - is a transcript on standard input')
    .option('--demo', 'the tool bundled with this program')
    .option(
      '--command <command>',
      'start a server that prints {"port":N} on its first line; stop it at the end',
    )
    .option('--watch', 'with --command: restart the server when its files change, and check again')
    .optionsGroup('What is checked:')
    .addOption(new Option('--side <side>', 'check one side of a transcript').choices(['tool', 'runtime']))
    .option('--only <id>', 'check this rule only (repeatable)', ruleOption)
    .option('--skip <id>', 'skip this rule (repeatable)', ruleOption)
    .option('--operation <name>', 'call this operation too, whatever its annotations (repeatable)', collect)
    .option('--cases <file>', 'test cases: calls and their expected results, YAML or JSON')
    .addOption(
      valueOption(
        '--probe-timeout <duration>',
        'time to wait for each expected message',
        duration,
        5_000,
        '5s',
      ),
    )
    .optionsGroup('What counts as a failure:')
    .option('--strict', 'warnings are failures')
    .option(
      '--expected-failures <file>',
      'known failures with reasons, YAML or JSON; a rule that passes fails the run',
    )
    .optionsGroup('Network:')
    .addOption(headerOption())
    .addOption(bearerOption())
    .addOption(new Option('--callback-host <host>', 'address to listen on').default('127.0.0.1'))
    .option('--callback-port <port>', 'port to listen on; 0 takes any', port, 0)
    .option('--callback-url <base>', 'base URL at which the tool reaches this listener', publicBase)
    .option('--allow-host <name>', 'accept this Host header too (repeatable)', collect)
    .optionsGroup('Output:')
    .option(
      '--reporter <format[:file]>',
      'human, json, junit, github or markdown (repeatable)',
      reporterOption,
    )
    .option('--save <file>', 'write the transcript, secrets redacted')
    .option('-q, --quiet', 'print only what did not pass')
    .option('-v, --verbose', 'show every message, and what a started server writes to stderr, redacted')
    .option('--no-color', 'no colours (NO_COLOR works too)')
    .optionsGroup('About the rules:')
    .option('--list', 'list all rules')
    .option('--spec <id>', 'print a rule and its source (repeatable)', ruleOption)
    .addHelpText(
      'after',
      examplesText(CHECK_EXAMPLES) + exitStatusText([0, 1, 2, 3, 4, 130]) + guideText('checking'),
    )
    .action((subject, flags, command) =>
      run(async terminal =>
        (await import('./run.js')).runCheck(subject, { ...flags, given: givenOptions(command) }, terminal),
      ),
    );
}
