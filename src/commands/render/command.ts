import type { Command } from 'commander';
import { DIALECT_NAMES } from '../../dialects/dialect.js';
import { defineCommand, type RunCommand, wholeNumber } from '../options.js';

/** Narrower rows cannot show a line of a diff. */
const MIN_WIDTH = 20;
const MAX_WIDTH = 1_000;

export function renderCommand(run: RunCommand): Command {
  return defineCommand({
    name: 'render',
    description:
      'Shows a saved file as it was shown live: a message (tool_result, oauth, user_choice, subscription_event, view_update), an invocation, a toolset, the object of invoke -o json, a transcript, what answers a call of an agent session, of LM-Kit or of MCP, or a bare unified diff. The format is detected.\nOf a damaged transcript, the readable part is shown.',
    usage: '<file|-> [options]',
    arguments: { '<file>': 'what to show; - is standard input' },
    options: `
      --dialect <name>  read the file as this system's format
      --supports <types>  emulate a client that draws only these segments: diff, text, image
      --call <n|id>  show one call of a transcript: its number from 1, or its id
      --failed  show only calls of a transcript without a successful result
      --unfold  show unchanged lines of diffs
      --full  in a pipe, do not cut lines of more than 4,000 characters
      Output:
      -o, --output <format>  full screen, text for people, or one JSON object
      --as <format>  make a picture, or convert the results to another system's format
      --save <file>  output file of --as, replaced if it exists (default: stdout)
      --width <cells>  columns (default: the terminal; 100 in a picture; a pipe gets lines that are not wrapped)
      --color  colours in a pipe too (FORCE_COLOR works too)
      --no-color  no colours (NO_COLOR works too)`,
    values: {
      '--dialect': { choices: DIALECT_NAMES },
      '--output': { choices: ['ui', 'plain', 'json'], preset: 'plain' },
      '--as': { choices: ['svg', ...DIALECT_NAMES] },
      '--width': { read: wholeNumber(MIN_WIDTH, MAX_WIDTH) },
    },
    examples: {
      'a saved result or transcript': 'protocol-cli render result.json',
      'what a client without diffs would show': 'protocol-cli render result.json --supports text',
      'in colour, in a pager': 'protocol-cli render run.ndjson --color | less -R',
      'the third call of a transcript': 'protocol-cli render run.ndjson --call 3',
      'a diff': 'git diff | protocol-cli render -',
      'a picture for a README or a bug report': 'protocol-cli render run.ndjson --as svg --save run.svg',
      'a transcript as the JSON object of invoke': "protocol-cli render run.ndjson -o json | jq '.outcome'",
      "a tool's answer for LM-Kit": 'protocol-cli render result.json --as lmkit',
    },
    statuses: [0, 2],
    guide: 'recording',
  }).action((file, options) =>
    run(async terminal => (await import('./run.js')).runRender(file, options, terminal)),
  );
}
