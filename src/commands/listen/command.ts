import { type Command, InvalidArgumentError } from 'commander';
import type { CallIds } from '../../runtime/callback-server.js';
import { defineCommand, type RunCommand } from '../options.js';

/** `--expect <group_id>/<id>`; the last slash separates them. */
function expectation(text: string, before: readonly CallIds[] = []): readonly CallIds[] {
  const slash = text.lastIndexOf('/');
  const ids = { groupId: text.slice(0, Math.max(0, slash)), id: text.slice(slash + 1) };
  if (ids.groupId === '' || ids.id === '')
    throw new InvalidArgumentError('It takes a group_id and an id: thread_1/call_1.');
  return [...before, ids];
}

export function listenCommand(run: RunCommand): Command {
  return defineCommand({
    name: 'listen',
    description:
      'A callback listener: prints its callback_url, shows what tools post there, and reports for each message whether it would have matched a pending call.\nIn a pipe, the first line is {"port":N,"url":"…","callback_url":"…"}.',
    usage: '[options]',
    options: `
      Network:
      --host <host>  address to listen on
      --port <port>  port to listen on; 0 takes any
      --callback-url <base>  base URL at which tools reach this listener
      --allow-host <name>  accept this Host header too (repeatable)
      --max-body <size>  largest callback, such as 512k, 64m
      Expected calls:
      --expect <group_id/id>  accept callbacks of this call only (repeatable; default: any)
      --group-id <id>  with --id: the same, for ids with a slash
      --id <id>  id of the call
      Webhooks:
      --signature <scheme:secret>  take webhooks instead of callbacks, and judge signature, age and order: h, standard or github, and a secret or env:NAME (repeatable)
      End:
      --count <n>  stop after this many results, or genuine webhooks (default: never)
      --timeout <duration>  stop after this time, such as 30s, 5m; 0: no limit. Exit status 7 if an expected result is missing
      Output:
      -o, --output <format>  text, one JSON line for each callback, or a transcript
      --supports <types>  emulate a client that draws only these segments: diff, text, image
      --save <file>  write the transcript, secrets redacted
      -q, --quiet  no warnings
      --no-color  no colours (NO_COLOR works too)`,
    values: {
      '--expect': { read: expectation },
      '--timeout': { preset: '0' },
      '--output': { choices: ['plain', 'json', 'ndjson'], preset: 'plain' },
    },
    examples: {
      'show everything that tools post, until Ctrl-C': 'protocol-cli listen --port 4000',
      'in a script: wait for the results of two calls of another program':
        'protocol-cli listen --expect thread_1/call_1 --expect thread_1/call_2 --count 2 --timeout 30s',
      'as JSON, one line for each callback':
        'protocol-cli listen -o json | jq -r \'select(.verdict == "settles").llm.text\'',
      'webhooks of an agent-session platform, while its secret is rotated':
        'protocol-cli listen --signature h:env:OLD_SECRET --signature h:env:NEW_SECRET',
      'between containers':
        'protocol-cli listen --host 0.0.0.0 --port 4000 --callback-url http://listener:4000',
    },
    isServer: true,
    statuses: [0, 2, 7],
    guide: 'protocol',
  }).action(flags => run(async terminal => (await import('./run.js')).runListen(flags, terminal)));
}
