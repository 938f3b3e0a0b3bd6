import { Command } from 'commander';
import type { RunCommand } from '../run-command.js';
import { answerCommand } from './answer/command.js';
import { mockCommand } from './mock/command.js';

/** `session`: both sides of the agent-session API. */
export function sessionCommand(run: RunCommand): Command {
  return new Command('session')
    .description(
      'Agent sessions: an agent runs on a platform, and a client answers its tool calls.\n`session mock` is the platform, for whoever writes the client; `session answer` is the client.',
    )
    .usage('<command> [options]')
    .addCommand(mockCommand(run))
    .addCommand(answerCommand(run));
}
