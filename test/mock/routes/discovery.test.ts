import { expect, test } from 'vitest';
import { rawExchange, request } from '../../http/raw.js';
import { replying, stageWith } from '../stage.js';

test('TOOL-DISCOVER: a valid toolset, derived from the operations where none is written', async () => {
  await using stage = await stageWith(replying({ payload: 'x' }));
  const toolset = await stage.runtime.discover(stage.tool.url);
  expect(toolset).toMatchObject({ endpoint: `${stage.tool.url}/invoke`, tools: [{ name: 'op' }] });
  expect(stage.runtime.verdict()).toEqual([]);
});

test('is logged as sent, and kept once however often it is requested', async () => {
  await using stage = await stageWith(replying({ payload: 'x' }));
  for (let count = 0; count < 3; count++) await stage.runtime.discover(stage.tool.url);
  const [first, ...others] = stage.told('response');
  expect(first).toMatchObject({ status: 200, headers: { 'content-type': 'application/json' } });
  const bytesOf = (event: typeof first) => event?.body?.bytes;
  expect(others.map(bytesOf).every(bytes => bytes === bytesOf(first))).toBe(true);
  expect([bytesOf(first)?.length, others.length]).toEqual([expect.any(Number), 2]);
});

test('row 6: the endpoint uses the host name of the request', async () => {
  await using stage = await stageWith(replying({ payload: 'x' }));
  const { port } = stage.tool;
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`]) {
    const answer = await rawExchange(port, request('GET /.well-known/rap-toolset', `Host: ${host}`));
    expect(answer).toContain(`"endpoint":"http://${host}/invoke"`);
  }
});
