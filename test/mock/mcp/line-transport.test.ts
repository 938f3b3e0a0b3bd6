import { PassThrough, Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { LineTransport } from '../../../src/mock/mcp/mcp-tool.js';

/** Promises between the line and its tool. */
const HOPS = 100;

test('the last message reaches the tool before it closes', async () => {
  const told: string[] = [];
  const stdin = Readable.from([Buffer.from('{"jsonrpc":"2.0","id":1,"method":"tools/call"}\n')]);
  const transport = new LineTransport({ stdin, stdout: new PassThrough() }, 1_000, async () => {
    told.push('end');
  });
  transport.onmessage = async () => {
    for (let hop = 0; hop < HOPS; hop++) await null;
    told.push('call');
  };
  await transport.start();
  await transport.over;
  expect(told).toEqual(['call', 'end']);
});
