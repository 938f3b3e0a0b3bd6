import { type Command, InvalidArgumentError } from 'commander';
import { isRequirementId, type RequirementId, suggestRequirement } from '../../protocol/requirements.js';
import { defineCommand, givenOptions, type RunCommand } from '../options.js';
import { REPORTER_ROW, readReporter } from '../reporter-option.js';

/** Adds the id of a rule, in any case. @throws InvalidArgumentError with similar ids */
export function ruleOption(text: string, before: readonly RequirementId[] = []): readonly RequirementId[] {
  const id = text.toUpperCase();
  if (isRequirementId(id)) return [...before, id];
  if (id.includes(','))
    throw new InvalidArgumentError(`unknown rule "${text}"; repeat the option for each rule.`);
  throw new InvalidArgumentError(`unknown rule "${text}". ${suggestRequirement(text)}`);
}

export function checkCommand(run: RunCommand): Command {
  return defineCommand({
    name: 'check',
    description:
      'Checks one side against the requirements of the protocol, and reports violations. A tool: calls it in every way that a runtime may; only operations marked readOnly (except those that need a login or run long), those given with --operation, and those of --cases. A runtime (--runtime): starts it with tools that misbehave in every way. A transcript (--save, -o ndjson, record): the tool and the runtime in it.',
    usage: '<url | transcript | -> [options]',
    arguments: {
      '[subject]': 'base URL of a tool server, or a transcript; - is a transcript on standard input',
    },
    options: `
      A tool:
      --command <command>  start a server that prints {"port":N}, or serves the URL; stop it at the end
      --demo  the tool bundled with this program
      --operation <name>  call this operation too, whatever its annotations (repeatable)
      --cases <file>  test cases: calls and their expected results, YAML or JSON
      --no-destructive  refuse operations that are marked destructive, even those of --operation and --cases
      -H, --header <name: value>  header, sent to the origin of the URL only (repeatable); a value of env:NAME reads a variable
      --bearer <token>  bearer token, sent to the origin of the URL only; env:NAME reads a variable
      --callback-host <host>  address to listen on
      --callback-port <port>  port to listen on; 0 takes any
      --callback-url <base>  base URL at which the tool reaches this listener
      --allow-host <name>  accept this Host header too (repeatable)
      A runtime (protocol-cli help runtimes):
      --runtime [command]  command of its driver, with --model of the agent; started for each scenario
      --model <provider>  the runtime is an agent: serve its model
      --scenario <name>  run this scenario only (repeatable)
      --log <file>  its own log, for RT-AUDIT and RT-OAUTH
      What is checked:
      --side <side>  check one side of a transcript
      --only <id>  check this rule only (repeatable)
      --skip <id>  skip this rule (repeatable)
      --ready-timeout <duration>  time for the command to start (default: 10s; with --runtime 15s)
      --probe-timeout <duration>  time to wait for each expected message
      --watch  with --command or --runtime: check again when the files of the command change
      What counts as a failure:
      --strict  warnings are failures
      --expected-failures <file>  known failures with reasons, YAML or JSON; a rule that passes fails the run
      --update  add what fails to this file, and remove what passes
      --prune  remove what passes from this file
      Output:
      ${REPORTER_ROW}
      --save <file>  write the transcript, secrets redacted; with --runtime, a folder with one for each scenario
      -q, --quiet  print only what did not pass
      -v, --verbose  show every message, and what the started command writes to stderr, redacted
      --no-color  no colours (NO_COLOR works too)
      About the rules:
      --list  list all rules; with --runtime, all scenarios
      --spec <id>  print a rule and its source (repeatable)`,
    values: {
      '--model': { choices: ['anthropic', 'openai'] },
      '--side': { choices: ['tool', 'runtime'] },
      '--only': { read: ruleOption },
      '--skip': { read: ruleOption },
      '--no-destructive': { isHidden: true },
      '--probe-timeout': { preset: '5s' },
      '--reporter': { read: readReporter },
      '--spec': { read: ruleOption },
    },
    examples: {
      'check a tool': 'protocol-cli check http://127.0.0.1:3001',
      'in CI: start the tool, call two more operations, write a report':
        'protocol-cli check --command "node server.mjs" --operation deploy --operation build --reporter junit:check.xml',
      'while you work on a tool': 'protocol-cli check --command "node server.mjs" --watch -q',
      'with your own test cases': 'protocol-cli check http://127.0.0.1:3001 --cases cases.yaml',
      'check a runtime': 'protocol-cli check --runtime "node driver.mjs"',
      'check a transcript: tool and runtime': 'protocol-cli check run.ndjson',
      'annotations and a job summary on GitHub': 'protocol-cli check http://127.0.0.1:3001 --reporter github',
      'one rule and its source': 'protocol-cli check --spec TOOL-RETRY',
    },
    statuses: [0, 1, 2, 3, 4],
    guide: 'checking',
  }).action((subject, flags, command: Command) =>
    run(async terminal =>
      (await import('./run.js')).runCheck(subject, { ...flags, given: givenOptions(command) }, terminal),
    ),
  );
}
