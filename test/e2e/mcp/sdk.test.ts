import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runHere } from '../support/in-process.js';
import { type McpServer, sdkPeerCommand, startSdkPeer } from '../support/mcp.js';
import { argv } from '../support/program.js';

let newest: McpServer;
let both: McpServer;
beforeAll(async () => {
  [newest, both] = await Promise.all([startSdkPeer(), startSdkPeer('--both')]);
});
afterAll(() => Promise.all([newest, both].map(each => each[Symbol.asyncDispose]())));

/** Over stdio each call starts the server anew, so that only one call of each kind is made there. */
describe('an SDK server over stdio', () => {
  test.each([
    ['only the newest version', sdkPeerCommand()],
    ['both versions', sdkPeerCommand('--both')],
  ])('that speaks %s is called, and shows its progress', async (_, server) => {
    const { status, stdout } = await runHere(argv`invoke --mcp ${server} steps -o plain`);
    expect(status).toBe(0);
    expect(stdout).toMatch(/progress 1 of 2: step 1 [\s\S]*progress 2 of 2: step 2 [\s\S]*done/);
  });

  test('asks', async () => {
    const { stdout } = await runHere(argv`invoke --mcp ${sdkPeerCommand()} pick --choose Large`);
    expect(JSON.parse(stdout)).toMatchObject({ content: { size: 'l' } });
  });
});

describe.each([
  ['only the newest version', () => newest.url],
  ['both versions', () => both.url],
])('an SDK server that speaks %s, over HTTP', (_, server) => {
  const invoke = (...words: string[]) => runHere(argv`invoke --mcp ${server()} ${words}`);

  test('is called', async () => {
    expect(await invoke('echo', 'text=hi')).toMatchObject({ status: 0, stdout: 'hi', stderr: '' });
  });

  test('reports progress, which the LLM does not get', async () => {
    const { status, stdout } = await invoke('steps', '-o', 'plain');
    expect(status).toBe(0);
    expect(stdout).toMatch(/progress 1 of 2: step 1 [\s\S]*progress 2 of 2: step 2 /);
    expect(await invoke('steps')).toMatchObject({ status: 0, stdout: 'done', stderr: '' });
  });

  test.each([
    ['{"name":"Ada","age":36}', { name: 'Ada', age: 36, subscribe: true, colour: 'green' }],
    ['name=Ada', { name: 'Ada', subscribe: true, colour: 'green' }],
  ])('--choose %s fills in its form', async (said, content) => {
    const { status, stdout } = await invoke('form', '--choose', said);
    expect({ status, answer: JSON.parse(stdout) }).toEqual({
      status: 0,
      answer: { action: 'accept', content },
    });
  });

  test.each(['decline', 'cancel'])('--choose %s answers its form', async action => {
    const { status, stdout } = await invoke('form', '--choose', action);
    expect({ status, answer: JSON.parse(stdout) }).toEqual({ status: 0, answer: { action } });
  });

  test.each([
    ['default', 's'],
    ['l', 'l'],
  ])('--choose %s picks one of its options', async (said, size) => {
    const { stdout } = await invoke('pick', '--choose', said);
    expect(JSON.parse(stdout)).toEqual({ action: 'accept', content: { size } });
  });

  test('without --choose, or with an invalid answer, exit 6', async () => {
    const silent = await invoke('form');
    expect(silent.status).toBe(6);
    const report = JSON.parse((await invoke('form', '-o', 'json')).stdout);
    expect(report.outcome).toEqual({
      type: 'canceled',
      reason: 'its question was not answered',
      by: 'system',
      basis: 'ours',
    });
    expect(silent.stderr).toContain('the server asks "Who are you?", but no answer was given');
    expect(silent.stderr).toContain(
      `Answer with --choose '{"name":"…"}' (fields: name, age, subscribe, colour)`,
    );
    const wrong = await invoke('form', '--choose', '{"name":"A"}');
    expect(wrong.status).toBe(6);
    const preset = await invoke('form', '--choose', 'default');
    expect(preset.stderr).toContain('--choose default does not fit the form');
    for (const { stderr } of [silent, wrong, preset])
      expect(stderr).toMatch(/\), or with decline or cancel\.$/m);
    expect(wrong.stderr).toMatch(/does not fit the form "Who are you\?"[\s\S]*\$\.name: .*2 characters/);
    expect((await invoke('pick')).stderr).toContain('<index, label or default>: 0 Small, 1 Large, 2 decline');
  });

  test('a capability that this client lacks is named in the error', async () => {
    const { status, stdout, stderr } = await invoke('sample');
    expect(status).not.toBe(0);
    expect(stdout + stderr).toMatch(
      /needs the client capability sampling,|sampling.*did not declare the required/,
    );
  });

  test('lists its tools', async () => {
    const { status, stdout, stderr } = await runHere(argv`toolset --mcp ${server()}`);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/^sdk-peer\n.*endpoint/);
    expect(stdout).toContain('  text  required  string');
    const json = await runHere(argv`toolset --mcp ${server()} -o json`);
    expect(JSON.parse(json.stdout)).toMatchObject({
      name: 'sdk-peer',
      tools: [{ name: 'echo' }, {}, {}, {}, {}, {}],
    });
  });
});
