import { json } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { deferred } from '../../support/deferred.js';
import { checking, findingsIn } from '../support/checking.js';
import { servePeer } from '../support/serve-peer.js';

const ASK = {
  name: 'ask',
  description: 'Asks',
  inputSchema: { type: 'object' },
  annotations: { readOnly: true },
};

test('a right tool whose only operation asks, and which does not look for a cancel before it asks', async () => {
  const answers = new Map<string, (selected: number) => void>();
  const post = (url: string, message: object) =>
    fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(message),
    });
  const tool = await servePeer(async (request, response) => {
    const base = `http://${request.headers.host}`;
    if (request.method === 'GET') {
      const toolset = { name: 'asking', endpoint: `${base}/invoke`, tools: [ASK] };
      return void response.setHeader('content-type', 'application/json').end(JSON.stringify(toolset));
    }
    const body = Object(await json(request).catch(() => null));
    response.end();
    answers.get(request.url ?? '')?.(body.selected);
    if (request.url !== '/invoke' || !body.callback_url) return;
    const ids = { id: body.id, group_id: body.group_id, call_id: body.call_id };
    const isValid = body.operation === 'ask' && Object(body.arguments).constructor === Object;
    if (isValid) {
      const selection = deferred<number>();
      const path = `/choices/${answers.size}`;
      answers.set(path, selection.resolve);
      const question = { prompt: 'Sure?', choices: ['Yes', 'No'], default: 1, response_url: base + path };
      await post(body.callback_url, { type: 'user_choice', ...ids, ...question });
      await selection.promise;
    }
    const text = isValid ? 'chosen' : 'Error: call ask with an object of arguments';
    await post(body.callback_url, { type: 'tool_result', ...ids, text });
  });
  const checks = await checking(tool.url, {
    wants: id => ['TOOL-CHOICE', 'TOOL-CANCEL', 'TOOL-ALWAYS'].includes(id),
  });
  await tool.stop();
  expect(findingsIn(checks).map(({ id, status, reason }) => `${id} ${status}: ${reason}`)).toEqual([]);
});
