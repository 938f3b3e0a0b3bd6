import { expect, test } from 'vitest';
import { rawExchange, request } from '../../transport/raw.js';
import { replying, stageWith } from '../stage.js';

test('TOOL-DISCOVER: a valid toolset, derived from the operations where none is written', async () => {
  await using stage = await stageWith(replying({ payload: 'x' }));
  const toolset = await stage.runtime.discover(stage.tool.url);
  expect(toolset).toMatchObject({ endpoint: `${stage.tool.url}/invoke`, tools: [{ name: 'op' }] });
  expect(stage.runtime.verdict()).toEqual([]);
});

test('row 6: the endpoint is named as whoever asks reaches us', async () => {
  await using stage = await stageWith(replying({ payload: 'x' }));
  const { port } = stage.tool;
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`]) {
    const answer = await rawExchange(port, request('GET /.well-known/rap-toolset', `Host: ${host}`));
    expect(answer).toContain(`"endpoint":"http://${host}/invoke"`);
  }
});
