import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Folder, temporaryFolder } from './support/folder.js';
import { runHere } from './support/in-process.js';
import { type Peer, startPeer } from './support/peers.js';
import { argv } from './support/program.js';
import { steady } from './support/report.js';

let folder: Folder;
let plain: Peer;

beforeAll(async () => {
  [folder, plain] = await Promise.all([temporaryFolder(), startPeer('plain')]);
});
afterAll(() => Promise.all([folder[Symbol.asyncDispose](), plain.stop()]));

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

  it('--save writes to a file', async () => {
    const file = folder.file('saved.json');
    const stdin = '{"content":[],"isError":false}';
    const { status, stdout } = await runHere(argv`render - --as rap --save ${file}`, { stdin });
    expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ type: 'tool_result', text: '' });
  });
});
