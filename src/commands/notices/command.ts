import { Command, Option } from 'commander';
import { type Example, examplesText, exitStatusText, guideText } from '../help.js';
import { bearerOption, collect, duration, headerOption, type RunCommand, valueOption } from '../options.js';

/** Adds the options that the commands share. @param timeout default of `--timeout` */
function withNoticeOptions(command: Command, timeout: string): Command {
  return command
    .addOption(
      valueOption(
        '--timeout <duration>',
        'time to wait for the answer: 500ms, 2s; 0 waits forever',
        duration,
        duration(timeout),
        timeout,
      ),
    )
    .addOption(headerOption())
    .addOption(bearerOption())
    .addOption(
      new Option('-o, --output <format>', 'a line for each notice, or one object')
        .choices(['plain', 'json'])
        .default('plain'),
    )
    .option('--no-color', 'no colours (NO_COLOR works too)');
}

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

/** `cancel` */
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
    .action((url, options) =>
      run(async terminal => (await import('../lazy.js')).runCancel(url, options, terminal)),
    );
}

export const CLOSE_THREAD_EXAMPLES: readonly Example[] = [
  { about: 'end a thread', line: 'protocol-cli close-thread http://127.0.0.1:3001 thread_1' },
  { about: 'end several threads', line: 'protocol-cli close-thread :3001 thread_1 thread_2 thread_3' },
  {
    about: 'notify every server of .infinity/rap.json',
    line: 'protocol-cli close-thread --group-id thread_1',
  },
];

/** `close-thread` */
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
    .action((words, options) =>
      run(async terminal => (await import('../lazy.js')).runCloseThread(words, options, terminal)),
    );
}

export const MIGRATE_EXAMPLES: readonly Example[] = [
  {
    about: 'move the state of a session to another machine',
    line: 'protocol-cli migrate http://127.0.0.1:3001 session_1 https://other.example:3001',
  },
  {
    about: 'every server of .infinity/rap.json that declares needsMigration',
    line: 'protocol-cli migrate session_1 https://other.example:3001',
  },
  {
    about: 'send it to a tool that does not declare needsMigration',
    line: 'protocol-cli migrate :3001 session_1 http://127.0.0.1:3002 --force',
  },
];

/** `migrate` */
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
    .action((words, options) =>
      run(async terminal => (await import('../lazy.js')).runMigrate(words, options, terminal)),
    );
}
