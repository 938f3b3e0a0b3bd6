import { describe, expect, test } from 'vitest';
import { deliver } from '../../src/tool/deliver.js';
import { createNodeClient } from '../../src/transport/node-client.js';
import { type Reply, startServing } from '../support/serving.js';

async function delivering(...replies: Reply[]) {
  await using server = await startServing(...replies);
  const client = createNodeClient();
  const arrived = await deliver(client, server.url, { type: 'tool_result', text: '日本' });
  await client.close();
  return { arrived, requests: server.requests };
}

describe('attempts', () => {
  test.each<[string, Reply[], boolean, number]>([
    ['200', [200], true, 1],
    ['204', [204], true, 1],
    ['TOOL-RETRY: 503, then 200', [503, 200], true, 2],
    ['TOOL-RETRY: a reset, then 200', ['reset', 200], true, 2],
    ['TOOL-NORETRY: 400', [400], false, 1],
    ['TOOL-NORETRY: 404', [404], false, 1],
    ['row 11: a redirect is never followed', [302], false, 1],
  ])('%s', async (_, replies, arrived, attempts) => {
    const delivery = await delivering(...replies);
    expect([delivery.arrived, delivery.requests.length]).toEqual([arrived, attempts]);
  });
});

test('TOOL-POST: a POST of JSON in UTF-8', async () => {
  const { requests } = await delivering(200);
  expect(requests[0]).toMatchObject({
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"type":"tool_result","text":"日本"}',
  });
});
