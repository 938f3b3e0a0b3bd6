import type { Command } from 'commander';
import { COMMAND_STATUS, defineCommand, givenOptions, type RunCommand } from '../options.js';

export function recordCommand(run: RunCommand): Command {
  return defineCommand({
    name: 'record',
    description:
      'A proxy between a runtime and a tool. Point the runtime at it: it forwards every message, replaces the endpoint, callback URLs and response URLs with its own, and writes a transcript. It never acknowledges or retries on its own.\nIn a pipe, the first line is {"port":N,"url":"…"}.\nWith --mcp it stands between an MCP client and a server, and passes every message on as it is.',
    usage:
      '<url> --save <file> [options]\n       protocol-cli record --mcp <url> --save <file> [options]\n       protocol-cli record --mcp stdio --save <file> [options] -- <command…>',
    arguments: { '[url...]': 'base URL of the tool server; after --, the command of an MCP server' },
    options: `
      MCP:
      --mcp <server>  record MCP: the URL of a server; or stdio, with its command after --, where stdin and stdout are the client's
      Network:
      --host <host>  address to listen on
      --port <port>  port to listen on; 0 takes any
      --allow-host <name>  accept this Host header too (repeatable)
      --callback-url <base>  base URL at which the tool reaches this recorder
      --allow-callback <origin>  allow callbacks to this origin (repeatable; this machine is always allowed)
      --max-body <size>  largest message
      --drain <duration>  time for messages in flight at the end
      Output:
      --save <file>  write the transcript to a new file, line by line, secrets redacted
      -o, --output <format>  one line for each message, or every event as JSON
      -q, --quiet  no lines about messages
      --no-color  no colours (NO_COLOR works too)`,
    values: {
      '--output': { choices: ['plain', 'ndjson'], preset: 'plain' },
    },
    examples: {
      'between a runtime and a tool: point the runtime at http://127.0.0.1:3002':
        'protocol-cli record http://127.0.0.1:3001 --port 3002 --save session.ndjson',
      'as JSON, one line for each event': 'protocol-cli record http://127.0.0.1:3001 -o ndjson',
      'between an MCP client and a server, over HTTP':
        'protocol-cli record --mcp http://127.0.0.1:3000/mcp --save run.ndjson',
      'over stdio: for the client, this is the command of the server':
        'protocol-cli record --mcp stdio --save run.ndjson -- node server.mjs',
      'between containers':
        'protocol-cli record http://tool:3001 --save session.ndjson --host 0.0.0.0 --port 3002 --allow-host recorder --callback-url http://recorder:3002 --allow-callback http://runtime:3000',
    },
    isServer: true,
    statuses: [0, 2],
    note: COMMAND_STATUS,
    guide: 'recording',
  }).action((words, flags, command: Command) =>
    run(async terminal =>
      (await import('./run.js')).runRecord(words, { ...flags, given: givenOptions(command) }, terminal),
    ),
  );
}
