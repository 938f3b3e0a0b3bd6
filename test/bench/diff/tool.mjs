import { once } from 'node:events';
import { createServer } from 'node:http';
import { patchOf } from './patch.mjs';

/** Answers `diff` with a diff of so many `lines`. */
const tools = [{ name: 'diff', description: 'A diff.', inputSchema: { type: 'object' } }];

const server = createServer(async (request, response) => {
  if (request.url === '/.well-known/rap-toolset') {
    const endpoint = `http://${request.headers.host}/invoke`;
    return response.end(JSON.stringify({ name: 'diff-tool', endpoint, tools }));
  }
  response.end();
  if (request.url === '/invoke') await deliver(JSON.parse(await bodyOf(request)));
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
process.stdout.write(`${JSON.stringify({ port: server.address().port })}\n`);

/** No one may be there any more: anyone who has seen the first frame is stopped. */
async function deliver({ id, group_id, callback_url, arguments: { lines } }) {
  const display_as = [
    { type: 'diff', content: { path: 'src/totals.ts', patch: patchOf(lines) } },
    { type: 'text', content: 'edited' },
  ];
  const body = JSON.stringify({ type: 'tool_result', group_id, id, text: 'Edited.', display_as });
  const headers = { 'content-type': 'application/json' };
  await fetch(callback_url, { method: 'POST', headers, body }).catch(() => {});
}

async function bodyOf(message) {
  const chunks = [];
  for await (const chunk of message) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
