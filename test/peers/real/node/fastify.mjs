/** A tool in Fastify, with its defaults: it refuses bodies with `__proto__` or `constructor`. */
import Fastify from 'fastify';
import { announce, deliver } from './deliver.mjs';
import { toolset } from './operations.mjs';

const app = Fastify();

app.get('/.well-known/rap-toolset', request =>
  toolset('fastify-tool', `http://${request.headers.host}/invoke`),
);

app.post('/invoke', async (request, reply) => {
  deliver(request.body);
  return reply.send();
});

for (const url of ['/close_thread', '/cancel_tool_call']) app.post(url, (_request, reply) => reply.send());

await app.listen({ host: '127.0.0.1', port: 0 });
announce(app.server.address().port);
