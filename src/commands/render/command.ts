import { Command, InvalidArgumentError, Option } from 'commander';
import { DIALECT_NAMES } from '../../dialects/dialect.js';
import { type Example, examplesText, exitStatusText, guideText } from '../help.js';
import { supportsOption, wholeNumber } from '../options.js';
import type { RunCommand } from '../run-command.js';
import type { RenderOptions } from './run.js';

export const RENDER_EXAMPLES: readonly Example[] = [
  { about: 'a saved result, a transcript, whatever it is', line: 'protocol-cli render result.json' },
  {
    about: 'what a weaker client would show of it',
    line: 'protocol-cli render result.json --supports text',
  },
  {
    about: 'a long one, in colour, to scroll through',
    line: 'protocol-cli render run.ndjson --color | less -R',
  },
  { about: 'the third call of a transcript', line: 'protocol-cli render run.ndjson --call 3' },
  { about: 'a diff', line: 'git diff | protocol-cli render -' },
  {
    about: 'a picture for a README or a bug report',
    line: 'protocol-cli render run.ndjson --as svg --save run.svg',
  },
  {
    about: 'a transcript as the object that invoke would have printed',
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
      'Shows something saved as it was shown live: a message (tool_result, oauth, user_choice, subscription_event, view_update), an invocation, a toolset, the object of invoke -o json, a transcript, what answers a call of an agent session, of LM-Kit or of MCP, or a bare unified diff. Which of them it is, it sees by itself.\nWhat could be read of a broken transcript is shown.',
    )
    .usage('<file|-> [options]')
    .argument('<file>', 'what to show; - is standard input')
    .addOption(new Option('--dialect <name>', 'take it for nothing else').choices(DIALECT_NAMES))
    .addOption(supportsOption())
    .option('--call <n|id>', 'of a transcript, only this call: its number from 1, or its id')
    .option('--failed', 'of a transcript, only the calls without a successful result')
    .option('--unfold', 'every unchanged line of a diff too')
    .optionsGroup('Output:')
    .addOption(
      new Option('-o, --output <format>', 'for people, or what it is as one object')
        .choices(['plain', 'json'])
        .default('plain'),
    )
    .addOption(
      new Option('--as <format>', "a picture, or a tool's answers as another system has them").choices([
        'svg',
        ...DIALECT_NAMES,
      ]),
    )
    .option('--save <file>', 'where what --as makes goes (default: stdout)')
    .option(
      '--width <cells>',
      "cells of a row (default: the terminal's; 80 in a pipe, 100 in a picture)",
      cells,
    )
    .option('--color', 'colours in a pipe too (FORCE_COLOR works too)')
    .option('--no-color', 'no colours (NO_COLOR works too)')
    .addHelpText('after', examplesText(RENDER_EXAMPLES) + exitStatusText([0, 2]) + guideText('recording'))
    .action((file: string, options: RenderOptions) =>
      run(async terminal => (await import('../seldom.js')).runRender(file, options, terminal)),
    );
}

function cells(text: string): number {
  const width = wholeNumber(text);
  if (width < NARROWEST || width > WIDEST)
    throw new InvalidArgumentError(`A width is a number of cells from ${NARROWEST} to ${WIDEST}.`);
  return width;
}
