import { spawnSync } from 'node:child_process';
import { symlink } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Folder, temporaryFolder } from '../support/folder.js';
import { type Peer, startPeer } from '../support/peers.js';
import { type AgentClient, startClient } from './start-client.js';

let folder: Folder;
let agent: AgentClient;

beforeAll(async () => {
  folder = await temporaryFolder();
  const env = { TOOL_TOKEN: 'token-hunter2-token', OTHER_TOKEN: 'other-hunter2-token' };
  agent = await startClient({ cwd: folder.path, env, args: ['--allow-env', 'TOOL_TOKEN'] });
});

afterAll(async () => {
  await agent[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

async function calledOperations(tool: Peer): Promise<unknown[]> {
  return (await tool.log()).filter(({ what }) => what === 'invocation').map(({ body }) => body);
}

describe.concurrent('an operation that is marked destructive', () => {
  const HINT = 'hint: If the user agrees to this call, repeat it with allow_destructive: true.';

  test('is called with allow_destructive only', async () => {
    await using tool = await startPeer('stdlib');
    const args = { url: tool.url, operation: 'delete_all' };
    const { text, isError, structuredContent } = await agent.call('invoke', args);
    expect(text).toBe(`error: delete_all is marked destructive, so it was not called\n${HINT}`);
    expect(isError).toBe(true);
    expect(structuredContent).toBeUndefined();
    expect(await calledOperations(tool)).toEqual([]);
    const allowed = await agent.call('invoke', { ...args, allow_destructive: true });
    expect(allowed.structuredContent).toMatchObject({ llm: { text: 'Deleted all 3 files' } });
    expect(await calledOperations(tool)).toHaveLength(1);
  });

  test.each(['operations', 'cases'])('check refuses it among the %s', async kind => {
    await using tool = await startPeer('stdlib');
    await folder.write('cases.yaml', 'version: 1\ncases: [{ operation: delete_all, arguments: {} }]\n');
    const selected = kind === 'cases' ? { cases: 'cases.yaml' } : { operations: ['echo', 'delete_all'] };
    const args = { url: tool.url, ...selected, only: ['TOOL-UNKNOWN-OP'] };
    const { text, isError } = await agent.call('check', args);
    expect(text).toBe(`error: delete_all is marked destructive, so it was not called\n${HINT}`);
    expect(isError).toBe(true);
    expect(await calledOperations(tool)).toEqual([]);
    const allowed = await agent.call('check', { ...args, allow_destructive: true });
    expect(allowed.isError).toBeFalsy();
    expect(await calledOperations(tool)).toContainEqual(expect.objectContaining({ operation: 'delete_all' }));
  });
});

describe.concurrent('commands', () => {
  test.each(['toolset', 'invoke', 'check'])('%s starts none without --allow-commands', async name => {
    const marker = folder.file(`${name}.started`);
    const args = { command: `touch '${marker}'`, ...(name === 'invoke' && { operation: 'echo' }) };
    const { text, isError } = await agent.call(name, args);
    expect(text).toMatch(/^error: this MCP server may not start commands\nhint: .*--allow-commands/);
    expect(isError).toBe(true);
    expect(spawnSync('ls', [folder.path], { encoding: 'utf8' }).stdout).not.toContain('started');
  });

  test('a word that looks like an option is none', async () => {
    const marker = folder.file('option.started');
    const option = `--command=touch '${marker}'`;
    const answers = await Promise.all([
      agent.call('invoke', { demo: true, operation: option }),
      agent.call('invoke', { url: option, operation: 'echo' }),
      agent.call('invoke', { demo: true, operation: 'edit_file', bearer: option, choose: [option] }),
      agent.call('invoke', { demo: true, operation: 'edit_file', timeout: option }),
      agent.call('check', { demo: true, operations: [option], only: [option] }),
      agent.call('render', { text: '{}', call: option }),
    ]);
    for (const { text, isError } of answers)
      expect([text, isError]).toEqual([expect.stringMatching(/^error: /), true]);
    expect(spawnSync('ls', [folder.path], { encoding: 'utf8' }).stdout).not.toContain('started');
  });

  test('without a target, no server of .infinity/rap.json is started', async () => {
    const { text } = await agent.call('invoke', { operation: 'echo', allow_destructive: true });
    expect(text).toBe('error: no tool server given\nhint: Give url, command, or demo: true.');
  });
});

describe.concurrent('credentials', () => {
  test('a variable is sent if the user allowed it, and shown nowhere', async () => {
    await using tool = await startPeer('plain');
    const args = { url: tool.url, operation: 'echo', arguments: { text: 'hi' }, bearer: 'env:TOOL_TOKEN' };
    const answer = await agent.call('invoke', { ...args, headers: ['X-Key: env:TOOL_TOKEN'] });
    expect(answer.isError).toBeFalsy();
    expect(JSON.stringify(answer)).not.toContain('hunter2');
    const { headers } = await tool.seen('invocation');
    expect(headers).toMatchObject({
      authorization: 'Bearer token-hunter2-token',
      'x-key': 'token-hunter2-token',
    });
  });

  test.each([{ bearer: 'env:OTHER_TOKEN' }, { headers: ['X-Key: env:OTHER_TOKEN'] }])(
    'another variable is refused: %j',
    async credentials => {
      await using tool = await startPeer('plain');
      const { text, isError } = await agent.call('toolset', { url: tool.url, ...credentials });
      expect(text).toContain('may not use the environment variable OTHER_TOKEN');
      expect(text).toContain('--allow-env OTHER_TOKEN');
      expect(isError).toBe(true);
      expect(await tool.log()).toEqual([]);
    },
  );
});

test('files outside of the working directory, also behind links, and pipes are not read', async () => {
  await using own = await temporaryFolder();
  spawnSync('sh', ['-c', 'mkdir below && mkfifo pipe'], { cwd: own.path });
  await symlink('/etc/passwd', own.file('link'));
  await symlink('/etc', own.file('below/link'));
  await using client = await startClient({ cwd: own.path });
  for (const path of ['/etc/passwd', '../x', 'link', 'below/link', 'below/link/passwd', '.', 'pipe'])
    for (const [name, args] of [
      ['render', { path }],
      ['check', { demo: true, cases: path }],
    ] as const) {
      const { text, isError } = await client.call(name, args);
      expect(text).toMatch(/^error: .* is (?:outside of the working directory|not a file)/);
      expect(isError).toBe(true);
    }
});

describe.concurrent('what a tool sends', () => {
  test('control and bidi characters are visible in the text; the data has them', async () => {
    await using tool = await startPeer('odd');
    const { text, structuredContent } = await agent.call('invoke', {
      url: tool.url,
      operation: 'hostile_text',
    });
    expect(JSON.stringify(structuredContent)).toContain('\\u001b');
    expect(text).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u);
    expect(text).toContain('␛');
  });

  test.each([
    'lone_surrogate',
    'proto_keys',
    'deep_json',
    'malformed_json',
    'invalid_utf8',
    'not_object',
    'bad_diff_then_text',
  ])('%s', async operation => {
    await using tool = await startPeer('odd');
    const { text } = await agent.call('invoke', { url: tool.url, operation, timeout: '2s' });
    expect(text).toContain(`sent ${operation}`);
  });

  test('a large result is cut, and the text says so', async () => {
    await using tool = await startPeer('plain');
    const args = { url: tool.url, operation: 'big', arguments: { bytes: 5_000_000 } };
    const answer = await agent.call('invoke', args);
    expect(answer.text.length).toBeLessThan(21_000);
    expect(answer.text).toContain('are cut here');
    expect(JSON.stringify(answer.structuredContent).length).toBeLessThan(150_000);
    expect(answer.structuredContent).toMatchObject({ outcome: { type: 'success' } });
  });

  test.each(['missing', 'invalid', 'notjson', 'html', 'redirect'])('a toolset that is %s', async how => {
    await using tool = await startPeer('odd', { TOOLSET: how });
    const { text, isError } = await agent.call('toolset', { url: tool.url });
    expect(text).toMatch(/^error: /);
    expect(isError).toBe(true);
  });

  test('a command that ends at once', async () => {
    await using client = await startClient({ args: ['--allow-commands'] });
    const command = "echo 'no such \u001b[31mmodule' >&2; exit 3";
    const { text, isError } = await client.call('toolset', { command });
    expect(text).toContain('ended with status 3');
    expect(text).not.toContain('\u001b');
    expect(isError).toBe(true);
  });
});

test.each(['toolset', 'check', 'invoke'])('an unreachable tool: %s says so, with a hint', async name => {
  const args = { url: 'http://127.0.0.1:9', ...(name === 'invoke' && { operation: 'echo' }) };
  const { text, isError } = await agent.call(name, args);
  expect(text).toMatch(/^error: .*ECONNREFUSED.*\nhint: Nothing listens there\./);
  expect(isError).toBe(true);
});

test.each([
  ['invoke', {}, 'operation'],
  ['invoke', { demo: true, operation: 5 }, 'operation'],
  [
    'invoke',
    { demo: true, operation: 'echo', allowDestructive: true },
    'Unrecognized key: "allowDestructive"',
  ],
  ['check', { demo: true, only: ['TOOL-AKC'] }, 'unknown rule "TOOL-AKC"'],
  ['check', { demo: true, probe_timeout: 'soon' }, 'Give a duration'],
])('bad arguments of %s: %j', async (name, args, what) => {
  const { text, isError } = await agent.call(name, args);
  expect(text).toContain(what);
  expect(isError).toBe(true);
});
