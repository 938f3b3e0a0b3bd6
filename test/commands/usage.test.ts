import { expect, test } from 'vitest';
import { runHere } from '../e2e/support/in-process.js';
import { STACK_LINE } from '../e2e/support/text.js';

/** Command lines that are refused before anything is sent, with their errors. */

const TOOL = 'http://127.0.0.1:1';
const ANSWER = ['session', 'answer', TOOL, 'session_1'];
const LOCAL = ['--fixtures', 'a.yaml'];
const RECORD = ['record', TOOL];
const SAVED = ['--save', '/tmp/never-written.ndjson'];

test.each<[readonly string[], RegExp]>([
  [RECORD, /no output for the recording\nhint: Add --save <file>, or -o ndjson for stdout\./],
  [[...RECORD, '--save', '-'], /--save needs a file name\nhint: -o ndjson writes the transcript to stdout\./],
  [['record', 'tool', ...SAVED], /invalid URL: tool\nhint: Write http:\/\/host:port/],
  [['record', 'ftp://tool', ...SAVED], /unsupported URL: ftp:\/\/tool; use http or https/],
  [['record', 'http://me:secret@tool', ...SAVED], /the URL of the tool contains a user name or password/],
  [['record'], /^error: no URL of a tool server\nhint: An MCP server is recorded with --mcp <url>, or/],
  [['migrate'], /^error: missing required argument 'session'\n/],
  [['session', 'answer'], /^error: missing required argument 'base-url'\n/],
  [['session', 'answer', TOOL], /^error: choose one of --tool, --fixtures, --handlers\n/],
  [['render'], /^error: missing required argument 'file'\n/],
  [['cancel', TOOL], /^error: required option '--group-id <id>' not specified\n/],
  [['toolset', TOOL, 'b', 'c'], /^error: too many arguments for 'toolset'\./],
  [['listen', 'foo'], /^error: too many arguments for 'listen'\./],
  [['invoke', '--timeout'], /^error: option '--timeout <duration>' argument missing\n/],
  [
    ['invoke', '-i', '--repeat', '2', '--id', 'a'],
    /^error: --id, --repeat cannot be combined with --interactive\n/,
  ],
  [
    ['invoke', '-o', 'xml'],
    /^error: option '-o, --output <format>' argument 'xml' is invalid\. Allowed choices are ui, text, /,
  ],
  [['--demo'], /^error: unknown option '--demo'\n\(add --help/],
  [
    [TOOL],
    /^error: no command before the URL http:\S+\nhint: protocol-cli toolset http\S+ lists its operations/,
  ],
  [
    [':3001', 'echo'],
    /^error: no command before the URL :3001\nhint: .* protocol-cli invoke :3001 <operation>/,
  ],
  [
    ['tsconfg.json'],
    /^error: cannot read tsconfg\.json: no such file or directory\nhint: Did you mean tsconfig\.json\?/,
  ],
  [
    ['render', 'src/cli.tx'],
    /^error: cannot read src\/cli\.tx: no such .*\nhint: Did you mean src\/cli\.ts\?/,
  ],
  [
    ['mock-tool', 'src/cli.tx'],
    /cannot read the fixtures src\/cli\.tx: .*\nhint: Did you mean src\/cli\.ts\?/,
  ],
  [['check', 'src/cli.tx'], /src\/cli\.tx: no such file or directory\nhint: Did you mean src\/cli\.ts\?/],
  [['render', 'src/zzzzz.yaml'], /no such file or directory\nhint: The path is relative to/],
  [['help', 'xyzzy'], /^error: unknown command or guide 'xyzzy'\nhint: protocol-cli help lists /],
  [[...RECORD, ...SAVED, '-o', 'json'], /argument 'json' is invalid/],
  [
    [...RECORD, '--save', '/none/x.ndjson'],
    /cannot write \/none\/x\.ndjson: .*\nhint: Create its folder first/,
  ],
  [[...RECORD, '-o', 'ndjson', '--allow-callback', 'runtime'], /"runtime" is not an origin/],
  ...['', 'tunnel', '/path', 'ftp://a', 'http://a?x=1', 'http://a#b'].map((base): [string[], RegExp] => [
    ['listen', '--callback-url', base],
    /Give a base URL such as/,
  ]),
  [['listen', '--supports', 'video'], /unknown segment type "video"; choose from diff, text, image/],
  [['listen', '--expect', '/b'], /It takes a group_id and an id/],
  [['listen', '--count', '0'], /--count must be at least 1/],
  [['listen', '--count', '2', '--expect', 'a/b'], /--count 2: only 1 results are expected/],
  [['listen', '--group-id', 'a'], /--group-id and --id need each other/],
  [['listen', '--group-id', '', '--id', 'a'], /--group-id and --id need each other/],
  [['mock-tool', '--save', '-'], /--save needs a file name\nhint: -o ndjson writes the transcript to stdout/],
  [['mock-tool', '--keep', '0'], /--keep must be at least 1/],
  [['mock-tool', '--watch'], /--watch needs fixture files/],
  ...['src/cli.ts', 'bin/protocol-cli.cjs', 'test/bench/run.mjs'].map((path): [string[], RegExp] => [
    ['mock-tool', path],
    new RegExp(
      `^error: ${path} is a module, not fixtures\nhint: Give it with --handlers: --handlers ${path}\\.`,
    ),
  ]),
  [['mock-tool', '--demo', 'a.yaml'], /--demo cannot be combined with/],
  [['mock-tool', '-o', 'ui'], /-o ui needs a terminal of at least 40×8 that no command uses/],
  [['mock-tool', '-o', 'ndjson', '--', 'true'], /-o ndjson and the command would both write to stdout/],
  [['invoke', ':1', 'echo', '-z'], /^error: unknown option '-z'\n\(add --help/],
  [
    ['invoke', ':1', 'echo', '--timeot', '1s'],
    /^error: unknown option '--timeot'\n\(Did you mean --timeout\?\)/,
  ],
  [['mock-tool', '--port', '70000'], /argument '70000' is invalid\. Give a port from 0 to 65535/],
  [['mock-tool', '--drain', 'soon'], /argument 'soon' is invalid\. Give a duration/],
  [['mock-tool', '--rate-limit', 'lots'], /argument 'lots' is invalid\. Give a rate such as 10\/s/],
  [['mock-tool', '--reporter', 'pdf:x'], /unknown format "pdf"; choose from human, json/],
  [['mock-tool', '--'], /^error: no command after --\n/],
  [
    ['mock-tool', '--allow-callback', 'http://a.example/path'],
    /"http:\/\/a\.example\/path" is not an origin/,
  ],
  [['mock-tool', '--handlers', 'no.mjs'], /no\.mjs/],
  [['session', 'mock', 'no-such-file.yaml'], /no-such-file\.yaml/],
  [['session', 'mock', '--key', 'two\nlines'], /key/],
  [['session', 'mock', 'a.yaml', 'b.yaml'], /unexpected second script: b\.yaml/],
  [['session', 'mock', '--'], /no command after --/],
  [['session', 'mock', '-o', 'ui'], /-o ui needs a terminal of at least 40×8 that no command uses/],
  [['session', 'mock', '--key', 'env:MISSING'], /--key: the environment variable MISSING is not set/],
  [[...ANSWER, ...LOCAL], /no API key\nhint: Set API_KEY or HAI_API_KEY/],
  [[...ANSWER, ...LOCAL, '--key', ''], /no API key/],
  [[...ANSWER, ...LOCAL, '--key', 'env:MY_KEY'], /--key: the environment variable MY_KEY is not set/],
  [[...ANSWER, '--key', 'k'], /choose one of --tool, --fixtures, --handlers/],
  [[...ANSWER, '--key', 'k', ...LOCAL, '--tool', TOOL], /exclude each other/],
  [[...ANSWER, '--key', 'k', '--handlers', 'a.mjs', '--tool', TOOL], /exclude each other/],
  [[...ANSWER, '--key', 'k', '--tool', 'lookup_order'], /invalid URL of the tool: lookup_order/],
  [[...ANSWER, '--key', 'k', ...LOCAL, '--parse-json'], /--parse-json is for --tool/],
  [[...ANSWER, '--key', 'k', ...LOCAL, '--tool-bearer', 'x'], /--tool-bearer is for --tool/],
  [[...ANSWER, '--key', 'k', ...LOCAL, '--callback-url', 'http://a'], /--callback-url is for --tool/],
  [[...ANSWER, '--key', 'k', ...LOCAL, '-o', 'ui'], /-o ui needs a terminal/],
  [['session', 'answer', 'ftp://h', 's', '--key', 'k', ...LOCAL], /ftp:\/\/h/],
  [['session', 'answer', 'http://me:secret@h', 's', '--key', 'k', ...LOCAL], /credentials in a URL/],
  [['render', '-', '--save', 'x'], /--save needs --as svg or --as <dialect>/],
  [['render', '-', '--as', 'svg', '-o', 'json'], /--as and -o json exclude each other/],
  [['render', '-', '-o', 'ui'], /-o ui needs a terminal of at least 40×8/],
  [['check'], /nothing to check given/],
  [['check', TOOL, '--demo'], /--demo and a URL exclude each other/],
  [['check', TOOL, '--side', 'tool'], /--side needs a transcript/],
  [['check', TOOL, '--watch'], /--watch needs --command/],
])('%j', async (args, message) => {
  const { status, stdout, stderr } = await runHere(args);
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toMatch(message);
  expect(stderr).not.toMatch(STACK_LINE);
});

test.each([
  ['2', [], 'warning: --timeout 2 is 2 ms; for seconds write 2s\n'],
  ['2ms', [], ''],
  ['0', [], ''],
  ['2', ['-q'], ''],
])('--timeout %s %j: a time that is hardly meant as milliseconds', async (timeout, more, warning) => {
  const { stderr } = await runHere(['invoke', TOOL, 'echo', '--timeout', timeout, ...more]);
  expect(stderr).toMatch(new RegExp(`^${warning}error: `));
});
