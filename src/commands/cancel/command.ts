import { Command } from 'commander';
import { type Example, examplesText, exitStatusText, guideText } from '../help.js';
import { withNoticeOptions } from '../notices/options.js';
import type { RunCommand } from '../run-command.js';
import type { CancelOptions } from './run.js';

export const CANCEL_EXAMPLES: readonly Example[] = [
  {
    about: 'cancel a call',
    line: 'protocol-cli cancel http://127.0.0.1:3001 --group-id thread_1 --id call_1',
  },
  {
    about: 'notify every server of .infinity/rap.json',
    line: 'protocol-cli cancel --group-id thread_1 --id call_1',
  },
  {
    about: 'as data',
    line: "protocol-cli cancel :3001 --group-id thread_1 --id call_1 -o json | jq '.notices[].status'",
  },
];

/** `cancel`: tells a tool that a call is no longer wanted. */
export function cancelCommand(run: RunCommand): Command {
  const command = new Command('cancel')
    .description(
      'Cancels a call or a subscription: POST {url}/cancel_tool_call, once.\nThe tool may still send a result; a runtime ignores it.',
    )
    .usage('[url] --group-id <id> --id <id> [options]')
    .argument('[url]', 'base URL of the tool server (default: every server of .infinity/rap.json)')
    .requiredOption('--group-id <id>', 'conversation thread of the call')
    .requiredOption('--id <id>', 'id of the call');
  return withNoticeOptions(command, '10s')
    .addHelpText(
      'after',
      examplesText(CANCEL_EXAMPLES) + exitStatusText([0, 2, 4, 129, 130, 143]) + guideText('protocol'),
    )
    .action((url: string | undefined, options: CancelOptions) =>
      run(async terminal => (await import('../seldom.js')).runCancel(url, options, terminal)),
    );
}
