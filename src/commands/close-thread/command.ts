import { Command } from 'commander';
import { type Example, examplesText, exitStatusText, guideText } from '../help.js';
import { withNoticeOptions } from '../notices/options.js';
import { collect } from '../options.js';
import type { RunCommand } from '../run-command.js';
import type { CloseThreadOptions } from './run.js';

export const CLOSE_THREAD_EXAMPLES: readonly Example[] = [
  { about: 'end a thread', line: 'protocol-cli close-thread http://127.0.0.1:3001 thread_1' },
  { about: 'end several threads', line: 'protocol-cli close-thread :3001 thread_1 thread_2 thread_3' },
  {
    about: 'notify every server of .infinity/rap.json',
    line: 'protocol-cli close-thread --group-id thread_1',
  },
];

/** `close-thread`: tells a tool that conversation threads are over. */
export function closeThreadCommand(run: RunCommand): Command {
  const command = new Command('close-thread')
    .description(
      'Notifies a tool that conversation threads have ended: POST {url}/close_thread, once for each.',
    )
    .usage('[url] [thread…] [options]')
    .argument(
      '[words...]',
      'base URL of the tool server (default: every server of .infinity/rap.json), then threads',
    )
    .option('--group-id <id>', 'a thread whose name looks like a URL (repeatable)', collect);
  return withNoticeOptions(command, '10s')
    .addHelpText(
      'after',
      examplesText(CLOSE_THREAD_EXAMPLES) + exitStatusText([0, 2, 4, 129, 130, 143]) + guideText('protocol'),
    )
    .action((words: string[], options: CloseThreadOptions) =>
      run(async terminal => (await import('../seldom.js')).runCloseThread(words, options, terminal)),
    );
}
