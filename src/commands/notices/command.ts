import type { Command } from 'commander';
import { defineCommand, type RunCommand } from '../options.js';

const SHARED_OPTIONS = `
  --timeout <duration>  time to wait for the answer: 500ms, 2s; 0 waits forever
  -H, --header <name: value>  header, sent to the origin of the URL only (repeatable); a value of env:NAME reads a variable
  --bearer <token>  bearer token, sent to the origin of the URL only; env:NAME reads a variable
  -o, --output <format>  a line for each notice, or one object
  --no-color  no colours (NO_COLOR works too)`;

/** @param timeout default of `--timeout` */
const sharedValues = (timeout: string) => ({
  '--timeout': { preset: timeout },
  '--output': { choices: ['plain', 'json'], preset: 'plain' },
});

export function cancelCommand(run: RunCommand): Command {
  return defineCommand({
    name: 'cancel',
    description:
      'Cancels a call or a subscription: POST {url}/cancel_tool_call, once.\nThe tool may still send a result; a runtime ignores it.',
    usage: '[url] --group-id <id> --id <id> [options]',
    arguments: { '[url]': 'base URL of the tool server (default: every server of .infinity/rap.json)' },
    options: `
      --group-id <id>  conversation thread of the call
      --id <id>  id of the call${SHARED_OPTIONS}`,
    values: { ...sharedValues('10s'), '--group-id': { isRequired: true }, '--id': { isRequired: true } },
    examples: {
      'cancel a call': 'protocol-cli cancel http://127.0.0.1:3001 --group-id thread_1 --id call_1',
      'notify every server of .infinity/rap.json': 'protocol-cli cancel --group-id thread_1 --id call_1',
      'as data': "protocol-cli cancel :3001 --group-id thread_1 --id call_1 -o json | jq '.notices[].status'",
    },
    statuses: [0, 2, 4],
    guide: 'protocol',
  }).action((url, options) =>
    run(async terminal => (await import('./run.js')).runCancel(url, options, terminal)),
  );
}

export function closeThreadCommand(run: RunCommand): Command {
  return defineCommand({
    name: 'close-thread',
    description:
      'Notifies a tool that conversation threads have ended: POST {url}/close_thread, once for each.',
    usage: '[url] [thread…] [options]',
    arguments: {
      '[url]': 'base URL of the tool server (default: every server of .infinity/rap.json)',
      '[thread...]': 'ids of the threads',
    },
    options: `--group-id <id>  a thread whose name looks like a URL (repeatable)${SHARED_OPTIONS}`,
    values: sharedValues('10s'),
    examples: {
      'end a thread': 'protocol-cli close-thread http://127.0.0.1:3001 thread_1',
      'end several threads': 'protocol-cli close-thread :3001 thread_1 thread_2 thread_3',
      'notify every server of .infinity/rap.json': 'protocol-cli close-thread --group-id thread_1',
    },
    statuses: [0, 2, 4],
    guide: 'protocol',
  }).action((url, threads, options) =>
    run(async terminal => {
      const words = url === undefined ? [] : [url, ...threads];
      return (await import('./run.js')).runCloseThread(words, options, terminal);
    }),
  );
}

export function migrateCommand(run: RunCommand): Command {
  return defineCommand({
    name: 'migrate',
    description:
      "Asks a tool to move a session's state: POST {url}/migrate, once.\nThe toolset must declare needsMigration; the tool answers 200 once the state has moved.",
    usage: '[url] <session> <destination> [options]',
    arguments: {
      '<session...>':
        'base URL of the tool server (default: every server of .infinity/rap.json), then the id of the session, then the URL that its state moves to',
    },
    options: `--force  send it even if the toolset does not declare needsMigration${SHARED_OPTIONS}`,
    values: sharedValues('60s'),
    examples: {
      'move the state of a session to another machine':
        'protocol-cli migrate http://127.0.0.1:3001 session_1 https://other.example:3001',
      'every server of .infinity/rap.json that declares needsMigration':
        'protocol-cli migrate session_1 https://other.example:3001',
      'send it to a tool that does not declare needsMigration':
        'protocol-cli migrate :3001 session_1 http://127.0.0.1:3002 --force',
    },
    statuses: [0, 2, 4],
    guide: 'protocol',
  }).action((words, options) =>
    run(async terminal => (await import('./run.js')).runMigrate(words, options, terminal)),
  );
}
