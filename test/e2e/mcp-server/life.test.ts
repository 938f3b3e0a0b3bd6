import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { INITIALIZE, rpcCall } from '../../mock/mcp/start-mcp-mock.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/mcp.js';
import { peerCommand, startPeer } from '../support/peers.js';
import { ROOT } from '../support/program.js';
import { startClient } from './start-client.js';

const SLOW = { operation: 'slow', arguments: { ms: 60_000 }, timeout: '5m' };

describe.concurrent('a call that runs', () => {
  test('is canceled by the client: the tool is notified, and the server goes on', async () => {
    await using tool = await startPeer('plain');
    await using agent = await startClient();
    const abort = new AbortController();
    const call = agent
      .call('invoke', { url: tool.url, ...SLOW }, { signal: abort.signal })
      .catch(() => 'off');
    await tool.seen('invocation');
    abort.abort();
    expect(await call).toBe('off');
    await tool.seen('cancel_tool_call');
    await tool.seen('close_thread');
    const { isError } = await agent.call('toolset', { url: tool.url });
    expect(isError).toBeFalsy();
  });

  test('is a check that is canceled: what it started is stopped', async () => {
    await using agent = await startClient({ args: ['--allow-commands'] });
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const abort = new AbortController();
    const args = {
      command: `PORT=${port} ${peerCommand('plain')}`,
      url,
      operations: ['slow'],
      probe_timeout: '5m',
    };
    const call = agent.call('check', args, { signal: abort.signal }).catch(() => 'off');
    const answers = () =>
      fetch(url).then(
        () => true,
        () => false,
      );
    await eventually('the tool runs', answers);
    abort.abort();
    expect(await call).toBe('off');
    await eventually('the tool is gone', async () => !(await answers()));
    expect(agent.isRunning()).toBe(true);
  });

  test.each(['end of stdin', 'SIGTERM'])('ends with the server: %s', async how => {
    await using tool = await startPeer('plain');
    const { child, ended } = open();
    child.stdin.write(lines(INITIALIZE, rpcCall(1, 'invoke', { url: tool.url, ...SLOW })));
    await tool.seen('invocation');
    if (how === 'SIGTERM') child.kill('SIGTERM');
    else child.stdin.end();
    const { status } = await ended;
    expect(status).toBe(0);
    await tool.seen('cancel_tool_call');
  });

  test('does not hold up others', async () => {
    await using tool = await startPeer('plain');
    await using agent = await startClient();
    const abort = new AbortController();
    const call = agent
      .call('invoke', { url: tool.url, ...SLOW }, { signal: abort.signal })
      .catch(() => 'off');
    await tool.seen('invocation');
    const others = Array.from({ length: 12 }, (_, index) =>
      agent.call('invoke', { url: tool.url, operation: 'echo', arguments: { text: `${index}` } }),
    );
    for (const [index, { structuredContent }] of (await Promise.all(others)).entries())
      expect(structuredContent).toMatchObject({ llm: { text: `${index}` } });
    abort.abort();
    await call;
    expect(agent.stderr()).not.toContain('Warning');
  });
});

test('without a progress token no progress is sent, and stdout has nothing but JSON-RPC', async () => {
  const { child, ended, stdout: said } = open();
  child.stdin.write('no JSON\n{"hello":1}\n');
  const call = { demo: true, operation: 'edit_file', arguments: { path: 'a.txt' } };
  child.stdin.write(lines(INITIALIZE, rpcCall(1, 'invoke', call), rpcCall(2, 'nothing')));
  await eventually('all are answered', () => said().split('\n').length > 3);
  child.stdin.end();
  const { stdout, stderr, status } = await ended;
  const messages = stdout
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line));
  expect(messages.map(({ id }) => id).toSorted()).toEqual([1, 2, 'init']);
  expect(messages.find(({ id }) => id === 2)).toMatchObject({ error: { code: -32_602 } });
  expect(stderr).toContain('invalid JSON in a line');
  expect(status).toBe(0);
});

test('a client that is gone ends it', async () => {
  const { child, ended } = open();
  child.stdin.write(lines(INITIALIZE));
  await once(child.stdout, 'data');
  child.stdout.destroy();
  child.stdin.write(lines(rpcCall(1, 'toolset', { demo: true })));
  child.stdin.end();
  expect((await ended).status).toBe(0);
});

/** Starts it with a stdin that stays open. */
function open() {
  const child = spawn(process.execPath, [`${ROOT}bin/protocol-cli.cjs`, 'mcp-server'], { stdio: 'pipe' });
  const [stdout, stderr] = [textOf(child.stdout), textOf(child.stderr)];
  const ended = once(child, 'close').then(([status]) => ({ status, stdout: stdout(), stderr: stderr() }));
  return { child, ended, stdout };
}

function textOf(stream: Readable): () => string {
  let text = '';
  stream.on('data', chunk => {
    text += chunk;
  });
  return () => text;
}

function lines(...messages: readonly object[]): string {
  return messages.map(message => `${JSON.stringify(message)}\n`).join('');
}
