import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Folder, temporaryFolder } from './support/folder.js';
import { runHere } from './support/in-process.js';
import { type Peer, startPeer } from './support/peers.js';
import { argv, ROOT } from './support/program.js';
import { steady } from './support/report.js';
import { unsafeIn } from './support/text.js';

let folder: Folder;
let plain: Peer;

beforeAll(async () => {
  [folder, plain] = await Promise.all([temporaryFolder(), startPeer('plain')]);
});
afterAll(() => Promise.all([folder[Symbol.asyncDispose](), plain.stop()]));

const BATCH = {
  type: 'batch',
  results: [
    {
      kind: 'tool_result',
      tool_req: { tool_name: 'lookup_order', args: {}, id: 'call_1' },
      result: 'shipped',
    },
    {
      kind: 'error_event',
      error: 'Order not found',
      origin: 'custom_tools',
      tool_req: { tool_name: 'lookup_order', args: {}, id: 'call_2' },
    },
  ],
};

describe.concurrent('invoke --dialect', () => {
  const invoke = (...args: string[]) => runHere(argv`invoke ${plain.url} ${args}`);

  it.each<[string, object]>([
    [
      'lmkit',
      { Type: 'Success', ResultJson: '"Replaced text in a.txt"', ToolCallId: 'c1', ToolName: 'edit_file' },
    ],
    ['mcp', { content: [{ type: 'text', text: 'Replaced text in a.txt' }], isError: false }],
    [
      'session',
      {
        kind: 'tool_result',
        tool_req: { tool_name: 'edit_file', args: { path: 'a.txt' }, id: 'c1' },
        result: 'Replaced text in a.txt',
      },
    ],
    ['rap', { type: 'tool_result', id: 'c1', text: 'Replaced text in a.txt' }],
  ])('%s: stdout is one object, the outcome', async (dialect, body) => {
    const call = ['edit_file', 'path=a.txt', '--id', 'c1', '--dialect', dialect];
    const [told, implied] = await Promise.all([invoke(...call, '-o', 'json'), invoke(...call, '-q')]);
    expect(told.status).toBe(0);
    expect(JSON.parse(told.stdout)).toMatchObject(body);
    expect(JSON.parse(implied.stdout)).toMatchObject(body);
    expect(steady(told.stderr)).toMatch(dialect === 'rap' ? /^$/ : /^(warning: an? .* cannot carry .*\n)+$/);
    expect(implied.stderr).toBe('');
  });

  it('an error is an outcome, and the exit status tells it', async () => {
    const { status, stdout } = await runHere(argv`invoke ${plain.url} fail --dialect lmkit`);
    expect(status).toBe(5);
    expect(JSON.parse(stdout)).toMatchObject({
      Type: 'Error',
      ResultJson: expect.stringContaining('{"error":{"message":'),
    });
  });

  it('a timeout is an outcome', async () => {
    const { status, stdout, stderr } = await invoke(
      'slow',
      'ms=5000',
      '--timeout',
      '500ms',
      '--dialect',
      'mcp',
    );
    expect(status).toBe(7);
    expect(JSON.parse(stdout)).toMatchObject({
      isError: true,
      structuredContent: { timeout: { durationMs: 500 } },
    });
    expect(stderr).toContain('error: timed out after 500ms');
  });

  it('without a call nothing is printed', async () => {
    const { status, stdout, stderr } = await invoke('edit_fil', '-o', 'json', '--dialect', 'lmkit');
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain('no operation "edit_fil"');
  });
});

describe.concurrent('render --as', () => {
  const as = (dialect: string, what: object | string, ...more: string[]) =>
    runHere(argv`render - --as ${dialect} ${more}`, {
      stdin: typeof what === 'string' ? what : JSON.stringify(what),
    });

  it('a batch is printed line by line, with losses on stderr', async () => {
    const { status, stdout, stderr } = await as('lmkit', BATCH);
    expect(status).toBe(0);
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map(line => JSON.parse(line)),
    ).toEqual([
      { Type: 'Success', ResultJson: '"shipped"', ToolCallId: 'call_1', ToolName: 'lookup_order' },
      {
        Type: 'Error',
        ResultJson: '{"error":{"message":"Order not found"}}',
        ToolCallId: 'call_2',
        ToolName: 'lookup_order',
      },
    ]);
    expect(stderr).toBe(
      'warning: a ToolCallResult of LM-Kit cannot carry the arguments (2 times)\n' +
        'warning: a ToolCallResult of LM-Kit cannot carry the error\'s origin "custom_tools"\n',
    );
  });

  it('a transcript: prints the answer of each call', async () => {
    const file = folder.file('many.ndjson');
    await runHere(argv`invoke ${plain.url} edit_file path=a.txt --repeat 2 --save ${file}`);
    const { status, stdout } = await runHere(argv`render ${file} --as session`);
    expect(status).toBe(0);
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map(line => JSON.parse(line)),
    ).toMatchObject([
      { kind: 'tool_result', tool_req: { tool_name: 'edit_file', args: { path: 'a.txt' } } },
      { kind: 'tool_result' },
    ]);
  });

  it('a message in its own format is printed unchanged', async () => {
    const native = { Type: 7, ResultJson: '{ "a" : 1 }', ToolCallId: null, Later: [1] };
    const { stdout, stderr } = await as('lmkit', native);
    expect(JSON.parse(stdout)).toEqual(native);
    expect(stderr).toBe('');
  });

  it('--save writes to a file', async () => {
    const file = folder.file('saved.json');
    const { status, stdout } = await as('rap', { content: [], isError: false }, '--save', file);
    expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ type: 'tool_result', text: '' });
  });

  it.each<[string, object | string, string[]]>([
    [
      'no tool result in standard input that --as lmkit can write',
      { operation: 'a', arguments: {}, id: 'a', group_id: 'a', callback_url: 'http://a' },
      [],
    ],
    ['exclude each other', BATCH, ['-o', 'json']],
    ['cannot show standard input', 'nothing', []],
  ])('%s: exit status 2', async (message, what, more) => {
    const { status, stdout, stderr } = await as('lmkit', what, ...more);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain(message);
  });
});

describe.concurrent('render', () => {
  it('shows an outcome of an unknown type: exit status 0', async () => {
    const native = {
      Type: 'Deferred',
      ResultJson: '{"until":"\\u202e"}',
      ToolCallId: 'c',
      ToolName: 'deploy',
    };
    const { status, stdout } = await runHere(argv`render -`, { stdin: JSON.stringify(native) });
    expect(status).toBe(0);
    expect(stdout.split('\n').slice(0, 3)).toEqual([
      'ToolCallResult of call c by deploy',
      '✗ outcome unknown (declared)',
      '    raw  Deferred',
    ]);
    expect(unsafeIn(stdout)).toEqual([]);
  });

  it('shows every call of a batch', async () => {
    const { stdout } = await runHere(argv`render -`, { stdin: JSON.stringify(BATCH) });
    const told = stdout.split('\n').filter(line => /^(CALL|✓|✗|shipped)/.test(line));
    expect(told).toEqual([
      'CALL 1 of 2',
      '✓ outcome success (declared)',
      'shipped',
      'CALL 2 of 2',
      '✗ outcome error (declared)',
    ]);
  });

  it('requires a dialect if it is ambiguous', async () => {
    const transcript = join(ROOT, 'fixtures/transcripts/choice.ndjson');
    const { status } = await runHere(argv`render ${transcript} --dialect mcp`, {});
    const wrong = await runHere(argv`render - --dialect mcp`, { stdin: JSON.stringify(BATCH) });
    expect([status, wrong.status]).toEqual([0, 2]);
  });
});
