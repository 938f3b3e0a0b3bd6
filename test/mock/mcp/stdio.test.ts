import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { parseFixtures } from '../../../src/fixtures/read-fixtures.js';
import { type McpToolOptions, serveMcpStdio } from '../../../src/mock/mcp/mcp-tool.js';
import { eventsOfKind } from '../local/local-tool.js';
import { type FileText, replying, watchedClock } from '../start-mock.js';
import { INITIALIZE, rpcCall } from './start-mcp-mock.js';

/** A client made of lines. */
async function connected(file: FileText, options: McpToolOptions = {}) {
  const stdin = new PassThrough();
  const stdout = new PassThrough();
  const fixtures = parseFixtures({ version: 1, ...file });
  const mcp = await serveMcpStdio({ fixtures, drainMs: 0, ...options }, { stdin, stdout });
  const lines: string[] = [];
  stdout.on('data', chunk => lines.push(...String(chunk).trimEnd().split('\n')));
  const say = (message: unknown) =>
    stdin.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`);
  const messages = () => lines.map(line => JSON.parse(line));
  return {
    mcp,
    stdin,
    stdout,
    say,
    messages,
    /** The answer to the request with this id, once it is there. */
    async answer(id: unknown) {
      for (;;) {
        const found = messages().find(message => message.id === id);
        if (found) return found;
        await once(stdout, 'data');
      }
    },
    [Symbol.asyncDispose]: () => mcp.close(),
  };
}

test('a client that sends everything at once and ends stdin gets all answers first', async () => {
  const clock = watchedClock();
  await using client = await connected(
    {
      fixtures: [
        { match: { operation: 'op' }, reply: { payload: 'now' } },
        { match: { operation: 'late' }, reply: { payload: 'late', delay: '1h' } },
      ],
    },
    { clock, drainMs: 5_000 },
  );
  client.say(INITIALIZE);
  client.say(rpcCall(1));
  client.say(rpcCall(2, 'late'));
  client.stdin.end();
  await client.mcp.over;
  expect(client.messages().map(({ id }) => id)).toEqual(['init', 1, 2]);
  expect(await client.answer(2)).toMatchObject({ result: { content: [{ text: 'late' }], isError: false } });
});

describe('an invalid message is reported, and the next one is served', () => {
  test.each([
    ['a list', '[]', 'MCP: a line is not a JSON-RPC message'],
    ['controls', '\u001b[31m', 'MCP: invalid JSON in a line: '],
  ])('%s', async (_, line, warning) => {
    await using client = await connected(replying({ payload: 'x' }));
    client.say(line);
    client.say('');
    client.say(INITIALIZE);
    client.say(rpcCall(1));
    await client.answer(1);
    const warned = eventsOfKind(client.mcp.tool, 'warned').map(({ message }) => message);
    expect(warned).toEqual([expect.stringContaining(warning)]);
    expect(warned.join('')).not.toContain('\u001b');
  });

  test('a line beyond the limit closes the connection', async () => {
    await using client = await connected(replying({ payload: 'x' }), { maxBody: 1_000 });
    client.say('x'.repeat(2_000));
    await client.mcp.over;
    expect(eventsOfKind(client.mcp.tool, 'warned')).toMatchObject([
      { message: 'MCP: a line is longer than 1000 bytes' },
    ]);
  });
});

test('new fixtures: notifies the client that the tools have changed', async () => {
  await using client = await connected(replying({ payload: 'x' }));
  client.say(INITIALIZE);
  client.say({ jsonrpc: '2.0', method: 'notifications/initialized' });
  await client.answer('init');
  const fixtures = [{ match: { operation: 'new' }, reply: { payload: 'y' } }];
  await client.mcp.replaceFixtures(parseFixtures({ version: 1, fixtures }));
  client.say({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  expect(await client.answer(1)).toMatchObject({ result: { tools: [{ name: 'new' }] } });
  expect(client.messages()).toContainEqual({
    jsonrpc: '2.0',
    method: 'notifications/tools/list_changed',
  });
});
