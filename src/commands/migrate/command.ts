import { Command } from 'commander';
import { type Example, examplesText, exitStatusText, guideText } from '../help.js';
import { withNoticeOptions } from '../notices/options.js';
import type { RunCommand } from '../run-command.js';
import type { MigrateOptions } from './run.js';

export const MIGRATE_EXAMPLES: readonly Example[] = [
  {
    about: 'move the state of a session to another machine',
    line: 'protocol-cli migrate http://127.0.0.1:3001 session_1 https://other.example:3001',
  },
  {
    about: 'every server of .infinity/rap.json that says needsMigration',
    line: 'protocol-cli migrate session_1 https://other.example:3001',
  },
  {
    about: 'send it to a tool that does not declare needsMigration',
    line: 'protocol-cli migrate :3001 session_1 http://127.0.0.1:3002 --force',
  },
];

/** `migrate`: tells a tool to move a session's state. */
export function migrateCommand(run: RunCommand): Command {
  const command = new Command('migrate')
    .description(
      "Asks a tool to move a session's state: POST {url}/migrate, once.\nThe toolset must declare needsMigration; the tool answers 200 once the state has moved.",
    )
    .usage('[url] <session> <destination> [options]')
    .argument(
      '<words...>',
      'base URL of the tool server (default: every server of .infinity/rap.json), id of the session, URL that its state moves to',
    )
    .option('--force', 'send it even if the toolset does not declare needsMigration');
  return withNoticeOptions(command, '60s')
    .addHelpText(
      'after',
      examplesText(MIGRATE_EXAMPLES) + exitStatusText([0, 2, 4, 129, 130, 143]) + guideText('protocol'),
    )
    .action((words: string[], options: MigrateOptions) =>
      run(async terminal => (await import('../seldom.js')).runMigrate(words, options, terminal)),
    );
}
