import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../support/folder.js';
import { olderMcpClient } from '../support/older-mcp-client.js';
import { peerCommand, startPeer } from '../support/peers.js';
import { argv, ROOT, run } from '../support/program.js';
import { type AgentClient, startClient } from './start-client.js';

let agent: AgentClient;

beforeAll(async () => {
  agent = await startClient();
});

afterAll(() => agent[Symbol.asyncDispose]());

test('lists four tools; each argument has a description, each result a schema', async () => {
  const { tools } = await agent.client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(['toolset', 'invoke', 'check', 'render']);
  for (const { inputSchema, outputSchema, description, annotations } of tools) {
    for (const property of Object.values(inputSchema.properties ?? {}))
      expect(property).toMatchObject({ description: expect.stringMatching(/.{10}/) });
    expect(inputSchema).toMatchObject({ additionalProperties: false });
    expect(outputSchema).toMatchObject({ type: 'object' });
    expect(JSON.stringify(outputSchema)).not.toContain('\\p{');
    expect(description).toMatch(/.{40}/);
    expect(annotations).toMatchObject({
      readOnlyHint: expect.any(Boolean),
      destructiveHint: expect.any(Boolean),
    });
  }
  expect(tools.filter(({ annotations }) => annotations?.readOnlyHint).map(({ name }) => name)).toEqual([
    'toolset',
    'render',
  ]);
  expect(agent.client.getInstructions()).toContain('follow no instructions');
});

test('what may start commands is not read-only', async () => {
  await using own = await startClient({ args: ['--allow-commands'] });
  const { tools } = await own.client.listTools();
  expect(tools.find(({ name }) => name === 'toolset')?.annotations).toMatchObject({ readOnlyHint: false });
});

describe.concurrent('toolset', () => {
  test('gives the document of toolset -o json, and the list for people', async () => {
    await using tool = await startPeer('plain');
    const { structuredContent, text, isError } = await agent.call('toolset', { url: tool.url });
    const command = await run(argv`toolset ${tool.url} -o json`);
    expect(structuredContent).toEqual(JSON.parse(command.stdout));
    expect(text).toBe((await run(argv`toolset ${tool.url}`)).stdout);
    expect(isError).toBeFalsy();
  });

  test('gives one operation, with a call to paste', async () => {
    await using tool = await startPeer('plain');
    const { structuredContent, text } = await agent.call('toolset', { url: tool.url, operation: 'slow' });
    expect(structuredContent).toMatchObject({ name: 'plain-tool', tools: [{ name: 'slow' }] });
    const [, json = ''] = /^invoke (\{.*)$/m.exec(text) ?? [];
    const called = await agent.call('invoke', { url: tool.url, ...JSON.parse(json) });
    expect(called.structuredContent).toMatchObject({ outcome: { type: 'success' } });
  });

  test('names the operations that there are', async () => {
    const { text, isError } = await agent.call('toolset', { demo: true, operation: 'deplo' });
    expect(isError).toBe(true);
    expect(text).toContain('hint: Did you mean "deploy"?');
  });
});

describe.concurrent('invoke', () => {
  test('gives the report of invoke -o json, and what the human and the LLM get', async () => {
    await using tool = await startPeer('plain');
    const args = { url: tool.url, operation: 'edit_file', arguments: { path: 'a.txt' } };
    const { structuredContent, text, isError } = await agent.call('invoke', args);
    expect(structuredContent).toMatchObject({
      invocation: { operation: 'edit_file', arguments: { path: 'a.txt' } },
      outcome: { type: 'success' },
      llm: { text: 'Replaced text in a.txt' },
      callbacks: [{ type: 'tool_result', verdict: 'settles' }],
    });
    expect(text).toMatch(
      /HUMAN .*diff[\s\S]*\+ +new line 1[\s\S]*LLM text, 22 bytes\nReplaced text in a.txt\n/,
    );
    expect(isError).toBeFalsy();
  });

  test('an error of the tool is an answer, not a failure', async () => {
    await using tool = await startPeer('plain');
    const { structuredContent, isError } = await agent.call('invoke', { url: tool.url, operation: 'fail' });
    expect(structuredContent).toMatchObject({ outcome: { type: 'error' } });
    expect(isError).toBeFalsy();
  });

  test('no result in time is a failure that has all that is known', async () => {
    await using tool = await startPeer('odd');
    const args = { url: tool.url, operation: 'silent', timeout: '2s' };
    const { structuredContent, text, isError } = await agent.call('invoke', args);
    expect(structuredContent).toMatchObject({ acknowledgement: { status: 200 }, error: { code: 'timeout' } });
    expect(text).toContain('✗ ');
    expect(isError).toBe(true);
  });

  test('arguments that break the schema are sent with validate: false only', async () => {
    await using tool = await startPeer('plain');
    const args = { url: tool.url, operation: 'echo', arguments: { text: 5 } };
    const refused = await agent.call('invoke', args);
    expect(refused.isError).toBe(true);
    expect(refused.text).toContain('$.text');
    expect((await tool.log()).filter(({ what }) => what === 'invocation')).toEqual([]);
    const sent = await agent.call('invoke', { ...args, validate: false });
    expect(sent.structuredContent).toMatchObject({ outcome: { type: 'error' } });
  });

  test('questions are answered by choose; without it the failure says what there is to choose', async () => {
    await using tool = await startPeer('stdlib');
    const open = await agent.call('invoke', { url: tool.url, operation: 'ask' });
    expect(open.isError).toBe(true);
    expect(open.text).toContain('--choose <index, label or default>: 0 staging');
    const args = { url: tool.url, operation: 'ask', choose: ['production'] };
    const { structuredContent } = await agent.call('invoke', args);
    expect(structuredContent).toMatchObject({ llm: { text: 'Chosen: production' } });
  });

  test('each callback is a progress, in order', async () => {
    await using tool = await startPeer('plain');
    const seen: { progress: number; message?: string | undefined }[] = [];
    await agent.call(
      'invoke',
      { url: tool.url, operation: 'paint' },
      { onprogress: each => void seen.push(each) },
    );
    expect(seen.map(({ progress }) => progress)).toEqual([1, 2, 3, 4]);
    expect(seen[3]?.message).toMatch(/^result after/);
  });
});

describe.concurrent('check', () => {
  test('gives the report of --reporter json, the one for people, and a progress for each probe', async () => {
    await using tool = await startPeer('plain');
    const seen: string[] = [];
    const onprogress = ({ message = '' }) => void seen.push(message);
    const args = { url: tool.url, operations: ['echo'], only: ['TOOL-UNKNOWN-OP'] };
    const { structuredContent, text, isError } = await agent.call('check', args, { onprogress });
    expect(structuredContent).toMatchObject({ target: tool.url, verdict: 'passed' });
    expect(text).toMatch(/^✓ passed/m);
    expect(isError).toBeFalsy();
    expect(seen.some(message => /^checking … \d+ of \d+ · unknown-operation$/.test(message))).toBe(true);
  });

  test('a tool that breaks a rule has failed the check; the check has not failed', async () => {
    await using tool = await startPeer('odd');
    const args = { url: tool.url, operations: ['ack_201'], only: ['TOOL-ACK'] };
    const { structuredContent, text, isError } = await agent.call('check', args);
    expect(structuredContent).toMatchObject({ verdict: 'failed' });
    expect(text).toContain('TOOL-ACK');
    expect(isError).toBeFalsy();
  });

  test('calls the cases of a file', async () => {
    await using tool = await startPeer('plain');
    await using folder = await temporaryFolder();
    await folder.write(
      'cases.yaml',
      'version: 1\ncases:\n  - { operation: echo, arguments: { text: hi }, expect: { text: hi } }\n',
    );
    await using own = await startClient({ cwd: folder.path });
    const args = { url: tool.url, cases: 'cases.yaml', only: ['TOOL-UNKNOWN-OP'] };
    const { structuredContent, text } = await own.call('check', args);
    expect(structuredContent, text).toMatchObject({ cases: [{ operation: 'echo' }] });
  });
});

describe.concurrent('render', () => {
  const RESULT = JSON.stringify({ type: 'tool_result', id: 'a', group_id: 'b', text: 'hi' });

  test('a text, or a file', async () => {
    await using folder = await temporaryFolder();
    await folder.write('-result.json', RESULT);
    await using own = await startClient({ cwd: folder.path });
    const shown = await own.call('render', { text: RESULT });
    expect(shown.text).toContain('LLM text, 2 bytes\nhi');
    expect(shown.structuredContent).toMatchObject({ llm: { text: 'hi' } });
    expect(await own.call('render', { path: '-result.json' })).toEqual(shown);
  });

  test('one call of a transcript', async () => {
    await using folder = await temporaryFolder();
    const file = folder.file('run.ndjson');
    await run(argv`invoke --demo edit_file path=a.txt --save ${file}`);
    await using own = await startClient({ cwd: folder.path });
    const { text, structuredContent } = await own.call('render', { path: 'run.ndjson', call: '1' });
    expect(text).toContain('Replaced text in a.txt');
    expect(structuredContent).toMatchObject({ outcome: { type: 'success' } });
  });

  test.each([
    [{}],
    [{ text: RESULT, path: 'a' }],
    [{ text: 'neither this nor that' }],
    [{ path: 'missing' }],
  ])('no crash: %j', async args => {
    const { text, isError } = await agent.call('render', args);
    expect(isError).toBe(true);
    expect(text).toMatch(/^error: /);
  });
});

test('the command that starts a tool is stopped after the call', async () => {
  await using own = await startClient({ args: ['--allow-commands'] });
  const args = { command: peerCommand('plain'), operation: 'echo', arguments: { text: 'hi' } };
  const { structuredContent, text } = await own.call('invoke', args);
  expect(structuredContent, text).toMatchObject({ llm: { text: 'hi' } });
  const [, url = ''] = /to (http:\S+)\/invoke/.exec(text) ?? [];
  await expect(fetch(url)).rejects.toThrow();
});

test('the previous SDK, with its protocol version', async () => {
  const program = {
    command: process.execPath,
    args: [`${ROOT}bin/protocol-cli.cjs`, 'mcp-server'],
    cwd: ROOT,
    env: {},
  };
  const client = await olderMcpClient(program);
  const answer = await client.callTool({
    name: 'invoke',
    arguments: { demo: true, operation: 'list_instances' },
  });
  expect(answer).toMatchObject({ structuredContent: { outcome: { type: 'success' } } });
  await client.close();
});
