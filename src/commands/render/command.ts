import { Command, InvalidArgumentError, Option } from 'commander';
import { DIALECT_NAMES } from '../../dialects/dialect.js';
import { type Example, examplesText, exitStatusText, guideText } from '../help.js';
import { type RunCommand, supportsOption, wholeNumber } from '../options.js';
import type { RenderOptions } from './run.js';

export const RENDER_EXAMPLES: readonly Example[] = [
  { about: 'a saved result or transcript', line: 'protocol-cli render result.json' },
  {
    about: 'what a client without diffs would show',
    line: 'protocol-cli render result.json --supports text',
  },
  {
    about: 'in colour, in a pager',
    line: 'protocol-cli render run.ndjson --color | less -R',
  },
  { about: 'the third call of a transcript', line: 'protocol-cli render run.ndjson --call 3' },
  { about: 'a diff', line: 'git diff | protocol-cli render -' },
  {
    about: 'a picture for a README or a bug report',
    line: 'protocol-cli render run.ndjson --as svg --save run.svg',
  },
  {
    about: 'a transcript as the JSON object of invoke',
    line: "protocol-cli render run.ndjson -o json | jq '.outcome'",
  },
  { about: "a tool's answer for LM-Kit", line: 'protocol-cli render result.json --as lmkit' },
];

/** Below this a row holds no line of a diff. */
const NARROWEST = 20;
const WIDEST = 1_000;

/** `render`: shows something saved as it was shown live. */
export function renderCommand(run: RunCommand): Command {
  return new Command('render')
    .description(
      'Shows a saved file as it was shown live: a message (tool_result, oauth, user_choice, subscription_event, view_update), an invocation, a toolset, the object of invoke -o json, a transcript, what answers a call of an agent session, of LM-Kit or of MCP, or a bare unified diff. The format is detected.\nOf a damaged transcript, the readable part is shown.',
    )
    .usage('<file|-> [options]')
    .argument('<file>', 'what to show; - is standard input')
    .addOption(new Option('--dialect <name>', "read the file as this system's format").choices(DIALECT_NAMES))
    .addOption(supportsOption())
    .option('--call <n|id>', 'show one call of a transcript: its number from 1, or its id')
    .option('--failed', 'show only calls of a transcript without a successful result')
    .option('--unfold', 'show unchanged lines of diffs')
    .optionsGroup('Output:')
    .addOption(
      new Option('-o, --output <format>', 'full screen, text for people, or one JSON object')
        .choices(['ui', 'plain', 'json'])
        .default('plain'),
    )
    .addOption(
      new Option(
        '--as <format>',
        "make a picture, or convert the results to another system's format",
      ).choices(['svg', ...DIALECT_NAMES]),
    )
    .option('--save <file>', 'output file of --as (default: stdout)')
    .option('--width <cells>', 'columns (default: the terminal; 80 in a pipe, 100 in a picture)', cells)
    .option('--color', 'colours in a pipe too (FORCE_COLOR works too)')
    .option('--no-color', 'no colours (NO_COLOR works too)')
    .addHelpText('after', examplesText(RENDER_EXAMPLES) + exitStatusText([0, 2]) + guideText('recording'))
    .action((file: string, options: RenderOptions) =>
      run(async terminal => (await import('../lazy.js')).runRender(file, options, terminal)),
    );
}

function cells(text: string): number {
  const width = wholeNumber(text);
  if (width < NARROWEST || width > WIDEST)
    throw new InvalidArgumentError(`A width is a number of cells from ${NARROWEST} to ${WIDEST}.`);
  return width;
}
