import { Command } from 'commander';
import { type Example, examplesText, guideText } from '../help.js';
import type { RunCommand } from '../run-command.js';
import { answerCommand } from './answer/command.js';
import { mockCommand } from './mock/command.js';

export const SESSION_EXAMPLES: readonly Example[] = [
  {
    about: 'try your client against a scripted agent',
    line: 'protocol-cli session mock --port 3002 --key secret',
  },
  {
    about: 'let a RAP tool answer the agent of a platform',
    line: 'protocol-cli session answer :3002 session_1 --tool :3001',
  },
  { about: 'all options', line: 'protocol-cli session mock --help' },
];

/** `session`: both sides of the agent-session API. */
export function sessionCommand(run: RunCommand): Command {
  return new Command('session')
    .description(
      'Agent sessions: an agent runs on a platform, and a client answers its tool calls.\n`session mock` is a platform for testing a client; `session answer` is a client.',
    )
    .usage('<command> [options]')
    .addCommand(mockCommand(run))
    .addCommand(answerCommand(run))
    .addHelpText('after', examplesText(SESSION_EXAMPLES) + guideText('sessions'));
}
