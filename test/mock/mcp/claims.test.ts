import { expect, test } from 'vitest';
import { defineTool } from '../../../src/mock/handlers.js';
import { Claims } from '../../../src/mock/mcp/endpoint.js';
import { mcpStage } from './mcp-stage.js';

const VERSION = '2025-06-18';
const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: VERSION, capabilities: {}, clientInfo: { name: 'c', version: '1' } },
};
const call = (id: unknown) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: 'op', arguments: {} },
});

test('of two calls at once with one id, the first has its answer, and the second is refused', async () => {
  let called = () => {};
  let finish = () => {};
  const isCalled = new Promise<void>(resolve => {
    called = resolve;
  });
  const isFinished = new Promise<void>(resolve => {
    finish = resolve;
  });
  const handle = async () => {
    called();
    await isFinished;
    return 'done';
  };
  const op = defineTool({ name: 'op', description: 'o', inputSchema: { type: 'object' }, handle });
  await using stage = await mcpStage(null, { handlers: [op] });
  const session = (await stage.post(initialize)).headers.get('mcp-session-id') ?? '';
  const headers = { 'mcp-session-id': session, 'mcp-protocol-version': VERSION };
  const first = stage.post(call(7), headers);
  await isCalled;
  const second = await stage.post(call(7), headers);
  expect([second.status, await second.json()]).toMatchObject([400, { id: 7, error: { code: -32600 } }]);
  finish();
  expect(await (await first).json()).toMatchObject({ id: 7, result: { content: [{ text: 'done' }] } });
  expect(await (await stage.post(call(7), headers)).json()).toMatchObject({ id: 7, result: {} });
});

test('an id is taken in its own session, by a request, until that is answered', () => {
  const claims = new Claims();
  const one = claims.claim('a', call('x'));
  expect(claims.claim('a', call('x'))).toEqual({ ok: false, id: 'x' });
  expect(claims.claim('b', call('x'))).toMatchObject({ ok: true });
  expect(claims.claim('a', { jsonrpc: '2.0', id: 'x', result: {} })).toMatchObject({ ok: true });
  expect(claims.claim('a', [call(1), call('1'), call(1)])).toEqual({ ok: false, id: 1 });
  if (one.ok) one.release();
  expect(claims.claim('a', call('x'))).toMatchObject({ ok: true });
});
