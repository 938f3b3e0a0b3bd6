import { ownOrigin, sendJson, serve } from './kit/http.mjs';
import { Journal } from './kit/journal.mjs';
import { deliver } from './plain/delivery.mjs';
import { perform, tools } from './plain/operations.mjs';

const NOTICES = {
  '/invoke': 'invocation',
  '/close_thread': 'close_thread',
  '/cancel_tool_call': 'cancel_tool_call',
};
const journal = new Journal();

await serve(async (request, response) => {
  if (request.method === 'POST') await take(request, response);
  else await show(request, response);
});

async function show(request, response) {
  if (request.url === '/__log') return sendJson(response, journal.entries);
  if (request.url !== '/.well-known/rap-toolset') return response.writeHead(404).end();
  await journal.receive('discovery', request);
  sendJson(response, { name: 'plain-tool', endpoint: `${ownOrigin(request)}/invoke`, tools });
}

async function take(request, response) {
  const what = NOTICES[request.url];
  if (!what) return response.writeHead(404).end();
  // The protocol wants the acknowledgement at once, so this tool does not even wait for the body.
  response.writeHead(200).end();
  const { body } = await journal.receive(what, request);
  if (what === 'invocation' && body?.callback_url) await answer(body);
}

async function answer(invocation) {
  const { id, call_id, group_id, callback_url } = invocation;
  const outcome = await perform(invocation.operation, invocation.arguments);
  await deliver(journal, callback_url, { type: 'tool_result', group_id, id, call_id, ...outcome });
}
