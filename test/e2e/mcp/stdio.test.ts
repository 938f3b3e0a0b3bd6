import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { reportSchema } from '../../../src/render/outputs/schemas.js';
import { isRunning } from '../../support/is-running.js';
import { eventually } from '../support/eventually.js';
import { type Folder, temporaryFolder } from '../support/folder.js';
import { runHere } from '../support/in-process.js';
import { logOf, peerCommand } from '../support/mcp.js';
import { argv, start } from '../support/program.js';

let folder: Folder;
beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(() => folder[Symbol.asyncDispose]());

const invoke = (words: readonly string[], ...options: string[]) =>
  runHere(argv`invoke --mcp ${peerCommand(...options)} ${words}`);

describe.concurrent('a started server, plain Node', () => {
  test('in a pipe, stdout is exactly the text for the LLM; arguments have the types of the inputSchema', async () => {
    const { status, stdout, stderr } = await invoke(['echo', 'text=hi\n', 'times=2']);
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: 'hi\nhi\n', stderr: '' });
  });

  test.each([
    ['a declared error', 'fails', 5, 'the disk is full', ''],
    ['isError left out', 'silent', 0, 'nothing is said of errors', ''],
    ['structured content only', 'structured', 0, '{"count":2,"names":["a","b"]}', 'no content block'],
    ['no result', 'no-result', 5, 'not a CallToolResult: $.content: must be an array', ''],
    ['an error of JSON-RPC', 'refuses', 5, 'Error: not today', 'JSON-RPC error -32001'],
    ['what says that it only reads', 'harmless', 0, 'read', ''],
    ['lines that are no JSON-RPC', 'chatter', 0, 'after the chatter', '"debug: this is not JSON-RPC"'],
  ])('%s', async (_, tool, status, text, warning) => {
    const ended = await invoke([tool]);
    expect(ended.status).toBe(status);
    expect(ended.stdout).toContain(text);
    expect(ended.stderr).toContain(warning);
    if (warning === '') expect(ended.stderr).not.toMatch(/JSON-RPC error|isError/);
  });

  test('-o json: no acknowledgement, the result unchanged', async () => {
    const { stdout } = await invoke(['refuses', '-o', 'json']);
    const refused = reportSchema.parse(JSON.parse(stdout));
    expect(refused).toMatchObject({
      dialect: 'mcp',
      acknowledgement: null,
      outcome: { type: 'error', basis: 'declared', code: '-32001' },
      result: null,
      callbacks: [],
    });
    expect(refused.invocation).not.toHaveProperty('callback_url');
    const mixed = reportSchema.parse(JSON.parse((await invoke(['mixed', '-o', 'json'])).stdout));
    expect(mixed.result).toHaveProperty('content[4]', { type: 'hologram', beam: 7 });
    expect(mixed.timing?.ackMs).toBeNull();
    expect(mixed.timing?.resultMs).toBeGreaterThan(0);
  });

  test('a number that cannot be held is kept: for the LLM, in -o json, -v and a transcript', async () => {
    const file = folder.file('exact.ndjson');
    const shown = await invoke(['exact', '-v', '--save', file]);
    expect(shown.stdout).toBe('{"n":9007199254740993}');
    expect(shown.stderr).toContain('"n":9007199254740993');
    expect(shown.stderr).not.toContain('9007199254740992');
    expect((await invoke(['exact', '-o', 'json'])).stdout).toContain('"n": 9007199254740993');
    const saved = await readFile(file, 'utf8');
    expect(saved).toContain('9007199254740993');
    expect(saved).not.toContain('9007199254740992');
  });

  test.each([
    ['refuses', 'HUMAN JSON-RPC error'],
    ['no-result', 'HUMAN not an MCP result'],
  ])('the heading of an answer without a result says why: %s', async (tool, heading) => {
    expect((await invoke([tool, '-o', 'plain'])).stdout).toContain(heading);
  });

  test('the human does not see what is for the assistant; other content is a line', async () => {
    const { stdout } = await invoke(['mixed', '-o', 'plain']);
    const [human = '', llm = ''] = stdout.slice(stdout.indexOf('HUMAN')).split('LLM');
    expect(human).toContain('skipped content[2] text: its audience is the assistant only');
    expect(human).not.toContain('for the model');
    expect(human).toContain('[image: image/png, 3 bytes]\n[hologram]');
    expect(llm).toContain('for the model');
    expect(stdout).not.toMatch(/acknowledg|callback/);
  });

  test('foreign text is made visible for the human, and unchanged for the LLM', async () => {
    const { stdout } = await invoke(['hostile', '-o', 'plain']);
    for (const character of ['\u001b', '\u202e']) expect(stdout).not.toContain(character);
    expect((await invoke(['hostile'])).stdout).toBe('\u001b]0;owned\u0007\u202Etxt');
  });

  test('a transcript replays the call', async () => {
    const file = folder.file('call.ndjson');
    const { stdout } = await invoke(['mixed', '-o', 'plain', '--save', file]);
    const panes = stdout.slice(stdout.indexOf('HUMAN')).trim();
    const rendered = await runHere(argv`render ${file}`);
    expect(rendered.stdout).toContain(panes);
    const report = await invoke(['mixed', '-o', 'json']);
    const saved = await folder.write('report.json', report.stdout);
    expect((await runHere(argv`render ${saved}`)).stdout).toContain(panes);
    const streamed = await invoke(['mixed', '-o', 'ndjson']);
    const again = await folder.write('streamed.ndjson', streamed.stdout);
    expect((await runHere(argv`render ${again}`)).stdout).toContain(panes);
  });

  test('an error before the call sends nothing', async () => {
    const unknown = await invoke(['ecko', 'text=a']);
    expect(unknown.status).toBe(2);
    expect(unknown.stderr).toContain('Did you mean');
    const wrong = await invoke(['echo', 'times=many']);
    expect(wrong.status).toBe(2);
    expect(wrong.stderr).toContain('$.text: is required');
    const log = folder.file('unvalidated');
    expect((await invoke(['echo', 'times=1', '--no-validate', '--timeout', '5s'], '--log', log)).status).toBe(
      4,
    );
    expect(await logOf(log)).toContainEqual(expect.objectContaining({ method: 'tools/call' }));
  });

  test('a destructive tool needs --yes, and a policy applies', async () => {
    expect((await invoke(['erase'])).status).toBe(6);
    expect((await invoke(['erase', '--yes'])).stdout).toBe('erased');
    const policy = await folder.write(
      'policy.json',
      '{"version":1,"deny":[{"annotation":"destructive","reason":"never"}]}',
    );
    const log = folder.file('denied');
    const denied = await invoke(['erase', '--policy', policy], '--log', log);
    expect(denied.status).toBe(5);
    expect(denied.stderr).toContain('erase was not called: never');
    expect(await logOf(log)).not.toContainEqual(expect.objectContaining({ method: 'tools/call' }));
  });

  test('--dry-run prints the message and sends nothing', async () => {
    const log = folder.file('dry');
    const { status, stdout } = await invoke(['echo', 'text=a', '--dry-run'], '--log', log);
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      method: 'tools/call',
      params: { name: 'echo', arguments: { text: 'a' } },
    });
    expect(await logOf(log)).not.toContainEqual(expect.objectContaining({ method: 'tools/call' }));
  });

  test('too slow: the server is notified and stopped', async () => {
    const log = folder.file('slow');
    const { status, stderr } = await invoke(['slow', '--timeout', '200ms'], '--log', log);
    expect(status).toBe(7);
    expect(stderr).toContain('timed out after 200ms');
    const lines = await logOf(log);
    expect(lines.at(-1)).toMatchObject({ method: 'notifications/cancelled' });
    expect(isRunning(Number(lines[0]?.['pid']))).toBe(false);
  });

  test('Ctrl-C cancels and stops even a server that ignores it', async () => {
    const log = folder.file('interrupted');
    const { child, ended } = start(argv`invoke --mcp ${peerCommand('--log', log, '--stubborn')} slow`);
    await eventually('the call is there', async () =>
      (await logOf(log)).some(({ method }) => method === 'tools/call'),
    );
    child.kill('SIGINT');
    expect((await ended).status).toBe(130);
    const lines = await logOf(log);
    expect(lines.at(-1)).toMatchObject({ method: 'notifications/cancelled' });
    expect(isRunning(Number(lines[0]?.['pid']))).toBe(false);
  });

  test.each([
    ['a second Ctrl-C', 'SIGINT'],
    ['SIGQUIT', 'SIGQUIT'],
  ] as const)('%s kills a server that ignores it', async (name, signal) => {
    const log = folder.file(name);
    const { child, ended } = start(argv`invoke --mcp ${peerCommand('--log', log, '--stubborn')} slow`);
    await eventually('the call is there', async () =>
      (await logOf(log)).some(({ method }) => method === 'tools/call'),
    );
    await eventually('it has ended', () => {
      child.kill(signal);
      return child.exitCode !== null || child.signalCode !== null;
    });
    await ended;
    const [first] = await logOf(log);
    await eventually('the server has ended', () => !isRunning(Number(first?.['pid'])));
  });

  test('a silent server fails after the time limit of its start, and the error has its stderr', async () => {
    const began = performance.now();
    const server = 'echo config: not found >&2; echo listening on 3000; exec sleep 1000';
    const { status, stderr } = await runHere(['invoke', '--mcp', server, 'x', '--timeout', '2s']);
    expect(status).toBe(4);
    expect(stderr).toContain('initialize timed out after 2s');
    expect(stderr).toContain(
      'it wrote a line that is not a JSON-RPC message to its stdout: "listening on 3000"',
    );
    expect(stderr).toContain('hint: The command must write one JSON-RPC message per line to stdout');
    expect(performance.now() - began).toBeLessThan(40_000);
  });

  test.each([
    ['dies during the call', [], 'dies', ['ended with status 3', 'the peer falls over']],
    ['does not come up', ['--crash'], 'echo', ['ended with status 9', 'Error: no configuration']],
  ])('a server that %s: the error has its end and last output', async (_, options, tool, words) => {
    const { status, stderr } = await invoke([tool], ...options);
    expect(status).toBe(4);
    for (const each of words) expect(stderr).toContain(each);
  });

  test('a missing file is named as the cause', async () => {
    const { stderr } = await runHere(['invoke', '--mcp', 'node no-such-file.mjs', 'x']);
    expect(stderr).toContain('hint: Its program or a file of it was not found: check the paths');
  });

  test('long lists of tools are read, endless ones are cut, an invalid tool does not affect others', async () => {
    expect((await invoke(['filler-29-99'], '--many', '30')).status).toBe(0);
    const endless = await invoke(['tool-again'], '--endless');
    expect(endless.status).toBe(0);
    expect(endless.stderr).toContain('the list of tools does not end');
    const broken = await invoke(['silent'], '--broken-tool');
    expect(broken.status).toBe(0);
    expect(broken.stderr).toContain('the tool "bad" cannot be used: $.inputSchema: is required');
  });

  test("-v shows the server's stderr", async () => {
    expect((await invoke(['dies', '-v'])).stderr).toContain('server: the peer falls over\n');
  });

  test('-v shows all JSON-RPC messages, both ways, and nothing else', async () => {
    const { stderr } = await invoke(['echo', 'text=\u202e', '-v']);
    const lines = stderr.split('\n').filter(line => /^[<>]/.test(line));
    const messages = lines.map(line => [line[0], JSON.parse(line.slice(2)) as object] as const);
    expect(messages).toMatchObject([
      ['>', { jsonrpc: '2.0', method: 'initialize' }],
      ['<', { jsonrpc: '2.0', result: { protocolVersion: expect.any(String) } }],
      ['>', { method: 'notifications/initialized' }],
      ['>', { method: 'tools/list' }],
      ['<', { result: { tools: expect.any(Array) } }],
      ['>', { method: 'tools/call', params: { name: 'echo', arguments: { text: '\u202e' } } }],
      ['<', { result: { content: [{ type: 'text', text: '\u202e' }] } }],
    ]);
    expect(stderr).not.toMatch(/^< 200|tools\/call stdio:/m);
  });

  test('options of RAP are refused by name', async () => {
    const { status, stderr } = await invoke(['echo', '--retries', '3', '--callback-port', '0', '--follow']);
    expect(status).toBe(2);
    expect(stderr).toContain('--retries, --follow, --callback-port cannot be combined with --mcp');
    expect(stderr).toContain('--retries: tools/call is sent once');
    expect(stderr).toContain('--callback-port: MCP has no callbacks');
    const demo = await invoke(['echo', '--demo', '--group-id', 'a', '--repeat', '3']);
    expect(demo.stderr).toContain('--demo: the tool is that of --mcp');
    expect(demo.stderr).toContain('--group-id: MCP has no threads');
    expect(demo.stderr).toContain('--repeat: ');
    expect((await invoke(['echo', '--bearer', 'x'])).stderr).toContain('does not receive --bearer');
    expect((await invoke([])).stderr).toContain('no tool of the MCP server given');
  });
});
