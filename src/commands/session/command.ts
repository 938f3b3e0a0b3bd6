import type { Command } from 'commander';
import {
  ANSWER_OUTPUTS,
  COMMAND_STATUS,
  defineCommand,
  type RunCommand,
  SERVER_OUTPUTS,
} from '../options.js';
import { REPORTER_ROW, readReporter } from '../reporter-option.js';

/** `session answer`: the client side of agent sessions (seed 001). */
function answerCommand(run: RunCommand): Command {
  return defineCommand({
    name: 'answer',
    summary: 'client: answer the calls of a session with a RAP tool, fixtures or code',
    description:
      'Waits until the session needs results, answers all pending calls in one post, and continues until the session settles.',
    usage: '<base-url> [session-id] (--tool <url> | --fixtures <file> | --handlers <module>) [options]',
    arguments: {
      '<base-url>': 'base URL of the platform, without /api/v2; :3002 is this machine',
      '[session-id]': 'id of the session (default: the only session of the platform)',
    },
    options: `
      The platform:
      --key <key>  API key; env:NAME reads it from the environment (default: API_KEY, then HAI_API_KEY)
      --wait <duration>  stop after this time without news
      Answers:
      --tool <url>  a RAP tool; each call becomes an invocation
      --fixtures <file>  fixtures, or a folder of them (repeatable)
      --handlers <module>  operations in code: an ES module that exports defineTool(…) by default
      --seed <seed>  seed for the fixtures
      Each call:
      --timeout <duration>  time for a toolset (at most 10s) and for a result; 0 waits forever
      --policy <file>  file with allow and deny rules for operations
      --yes  do not ask before a destructive tool
      --choose <choice>  answer to a question: index from 0, label, default, or JSON for an MCP form (repeatable)
      With --tool:
      --tool-header <name: value>  header, sent to the tool's origin only (repeatable)
      --tool-bearer <token>  bearer token, sent to the tool's origin only; env:NAME reads a variable
      --parse-json  post a text that is JSON as JSON, not as a string
      --no-validate  send arguments that do not match the schema
      --retries <n>  how often to retry if the tool is unreachable or answers 5xx
      --lenient-ack  accept any 2xx as acknowledgement
      --callback-host <host>  address to listen on
      --callback-port <port>  port to listen on; 0 takes any
      --callback-url <base>  base URL at which the tool reaches this listener
      --allow-host <name>  accept this Host header too (repeatable)
      --max-body <size>  largest callback, such as 512k, 64m
      --supports <types>  emulate a client that draws only these segments: diff, text, image
      Output:
      -o, --output <format>  a live list, lines, one JSON object, or every event as JSON
      --save <file>  write the transcript of both sides, secrets redacted
      -q, --quiet  no lines about calls, no warnings
      -v, --verbose  show every message on stderr, redacted
      --no-color  no colours (NO_COLOR works too)`,
    values: {
      '--wait': { preset: '0', shown: 'forever' },
      '--timeout': { preset: '60s' },
      '--output': { choices: ANSWER_OUTPUTS },
    },
    examples: {
      'let a RAP tool serve the agent':
        'protocol-cli session answer http://127.0.0.1:3002 --tool http://127.0.0.1:3001',
      'answer from fixtures, as mock-tool has them':
        'protocol-cli session answer http://127.0.0.1:3002 --fixtures fixtures.yaml',
      'answer with code; the key comes from the environment':
        'HAI_API_KEY=… protocol-cli session answer https://agp.example.com 4f1c --handlers tool.mjs',
      'only what the policy allows; the outcome as one JSON object':
        'protocol-cli session answer :3002 --tool :3001 --policy policy.yaml -o json',
    },
    statuses: [0, 2, 4, 5, 7],
    guide: 'sessions',
  }).action((base, session, flags) =>
    run(async terminal => (await import('./answer.js')).runSessionAnswer([base, session], flags, terminal)),
  );
}

/** `session mock`: the platform side of agent sessions (seed 001). */
function mockCommand(run: RunCommand): Command {
  return defineCommand({
    name: 'mock',
    summary: 'mock platform: a script plays the agent, your client answers',
    description:
      'Serves /api/v2/sessions: a script plays the agent, and a client answers its calls. One session exists from the start; each new session plays the script again.\nWith a command after --: runs the command with SESSION_URL, SESSION_ID and API_KEY set, verifies, and exits.\nIn a pipe, the first line is {"port":N,"url":"…","key":"…","session":"…"}.',
    usage: '[file] [options] [-- command…]',
    arguments: {
      '[file...]': 'a session script, YAML or JSON (default: one call of lookup_order); after --, a command',
    },
    options: `
      Network:
      --host <host>  address to listen on
      --port <port>  port to listen on; 0 takes any
      --allow-host <name>  accept this Host header too (repeatable)
      --allow-webhook <origin>  allow webhooks to this origin (repeatable; this machine is always allowed)
      --key <key>  API key that clients send; env:NAME reads a variable (default: API_KEY, else random, printed)
      Verification:
      --verify  verify at the end: exit 1 on unanswered, unexpected or refused results
      ${REPORTER_ROW}; implies --verify
      Output:
      -o, --output <format>  a live list, lines, or every event as data
      --save <file>  write the transcript, without the key
      -q, --quiet  no lines about calls
      --no-color  no colours (NO_COLOR works too)`,
    values: { '--reporter': { read: readReporter }, '--output': { choices: SERVER_OUTPUTS } },
    examples: {
      'a session that waits for one call of lookup_order':
        'protocol-cli session mock --port 3002 --key secret',
      'your own agent, as a script': 'protocol-cli session mock order.yaml --port 3002',
      'in CI: run the client against it, then report unanswered, unexpected and refused results':
        'protocol-cli session mock order.yaml -- npm test',
      'every event as JSON': 'protocol-cli session mock order.yaml -o ndjson',
    },
    isServer: true,
    statuses: [0, 1, 2],
    note: COMMAND_STATUS,
    guide: 'sessions',
  }).action((words, flags) =>
    run(async terminal => (await import('./mock.js')).runSessionMock(words, flags, terminal)),
  );
}

export function sessionCommand(run: RunCommand): Command {
  return defineCommand({
    name: 'session',
    description:
      'Agent sessions: an agent runs on a platform, and a client answers its tool calls.\n`session mock` is a platform for testing a client; `session answer` is a client.',
    usage: '<command> [options]',
    examples: {
      'try your client against a scripted agent': 'protocol-cli session mock --port 3002 --key secret',
      'let a RAP tool answer the agent of a platform': 'protocol-cli session answer :3002 --tool :3001',
      'all options': 'protocol-cli session mock --help',
    },
    guide: 'sessions',
  })
    .addCommand(mockCommand(run))
    .addCommand(answerCommand(run));
}
