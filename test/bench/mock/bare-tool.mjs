import { createServer } from 'node:http';
import { Agent } from 'undici';

/** The least that does the same as the mock: 200 at once, then the result to the callback URL. No checks, no memory. */
const agent = new Agent({ connections: 256, pipelining: 1 });

const server = createServer((request, response) => {
  const chunks = [];
  request.on('data', chunk => chunks.push(chunk));
  request.on('end', () => {
    response.end();
    const invocation = JSON.parse(Buffer.concat(chunks).toString());
    setImmediate(() => deliver(invocation));
  });
});

function deliver({ group_id, id, call_id, callback_url, arguments: args }) {
  const text = JSON.stringify({ replaced: args.path, count: 1 });
  const { origin, pathname, search } = new URL(callback_url);
  agent
    .request({
      origin,
      path: pathname + search,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'tool_result', group_id, id, call_id, text }),
    })
    .then(({ body }) => body.dump());
}

server.listen(0, '127.0.0.1', () => {
  const { port } = server.address();
  process.stdout.write(`${JSON.stringify({ port, url: `http://127.0.0.1:${port}` })}\n`);
});
process.on('SIGTERM', () => process.exit());
