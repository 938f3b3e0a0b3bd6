import { Command, Option } from 'commander';
import { type Example, examplesText, exitStatusText, guideText } from '../../help.js';
import {
  chooseOption,
  collect,
  duration,
  maxBodyOption,
  port,
  publicBase,
  supportsOption,
  valueOption,
  wholeNumber,
} from '../../options.js';
import type { RunCommand } from '../../run-command.js';
import { ANSWER_OUTPUTS, type AnswerFlags } from './plan.js';

export const SESSION_ANSWER_EXAMPLES: readonly Example[] = [
  {
    about: 'let a RAP tool serve the agent',
    line: 'protocol-cli session answer http://127.0.0.1:3002 session_1 --tool http://127.0.0.1:3001',
  },
  {
    about: 'answer from fixtures, as mock-tool has them',
    line: 'protocol-cli session answer http://127.0.0.1:3002 session_1 --fixtures fixtures.yaml',
  },
  {
    about: 'answer in code; the key comes from the environment',
    line: 'HAI_API_KEY=… protocol-cli session answer https://agp.example.com 4f1c --handlers tool.mjs',
  },
  {
    about: 'only what the policy allows, and what came of it as one object',
    line: 'protocol-cli session answer :3002 session_1 --tool :3001 --policy policy.yaml -o json',
  },
];

/** `session answer`: the client's side of agent sessions (seed 001). */
export function answerCommand(run: RunCommand): Command {
  return new Command('answer')
    .summary('be the client: answer the calls of a session from a RAP tool, fixtures or code')
    .description(
      'Waits until the session wants results, answers every pending call, posts one body for all of them, and goes on until the session settles.',
    )
    .usage('<base-url> <session-id> (--tool <url> | --fixtures <file> | --handlers <module>) [options]')
    .argument('<base-url>', 'of the platform, without /api/v2; :3002 is this machine')
    .argument('<session-id>')
    .optionsGroup('The platform:')
    .option(
      '--key <key>',
      'API key; env:NAME reads it from the environment (default: API_KEY, then HAI_API_KEY)',
    )
    .addOption(
      valueOption('--wait <duration>', 'give up where nothing is new for so long', duration, 0, 'for ever'),
    )
    .optionsGroup('Who answers:')
    .option('--tool <url>', 'a RAP tool: each call becomes an invocation, its result the answer')
    .option('--fixtures <file>', 'fixtures, or a folder of them (repeatable)', collect)
    .option('--handlers <module>', 'operations in code: an ES module that exports defineTool(…) by default')
    .option('--seed <seed>', 'for all that fixtures draw')
    .optionsGroup('Each call:')
    .addOption(
      valueOption('--timeout <duration>', 'for its result; 0 waits for ever', duration, 60_000, '60s'),
    )
    .option('--policy <file>', 'what may be called: allow and deny by name, wildcard and annotation')
    .option('--yes', 'no question before a destructive tool')
    .addOption(chooseOption())
    .optionsGroup('With --tool:')
    .option('--tool-header <name: value>', "header for the tool's own origin (repeatable)", collect)
    .option(
      '--tool-bearer <token>',
      "bearer token for the tool's own origin; env:NAME reads it from the environment",
    )
    .option('--parse-json', 'a result whose text is JSON is posted as that JSON, not as a string')
    .option('--no-validate', 'send arguments that break the schema, as they are')
    .option('--retries <n>', 'of the dispatch, where the tool is unreachable or answers 5xx', wholeNumber, 2)
    .option('--lenient-ack', 'take any 2xx for an acknowledgement')
    .option('--callback-host <host>', 'address to listen on', '127.0.0.1')
    .option('--callback-port <port>', 'port to listen on; 0 takes any', port, 0)
    .option(
      '--callback-url <base>',
      'how the tool reaches this listener; a path with a token is appended',
      publicBase,
    )
    .option('--allow-host <name>', 'accept this Host header too (repeatable)', collect)
    .addOption(maxBodyOption())
    .addOption(supportsOption())
    .optionsGroup('Output:')
    .addOption(
      new Option(
        '-o, --output <format>',
        'live view, lines, one object at the end, or every event as data',
      ).choices(ANSWER_OUTPUTS),
    )
    .option('--save <file>', 'write the transcript of both legs, secrets redacted')
    .option('-q, --quiet', 'no lines about calls, no warnings')
    .option('-v, --verbose', 'show every message on stderr, redacted')
    .option('--no-color', 'no colours (NO_COLOR works too)')
    .addHelpText(
      'after',
      examplesText(SESSION_ANSWER_EXAMPLES) +
        exitStatusText([0, 2, 4, 5, 7, 129, 130, 143]) +
        guideText('sessions'),
    )
    .action((base: string, session: string, flags: AnswerFlags) =>
      run(async terminal => (await import('./run.js')).runSessionAnswer([base, session], flags, terminal)),
    );
}
