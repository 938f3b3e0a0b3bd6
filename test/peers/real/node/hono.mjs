/** A tool in Hono on Node. */
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { announce, deliver } from './deliver.mjs';
import { toolset } from './operations.mjs';

const app = new Hono();

app.get('/.well-known/rap-toolset', c => c.json(toolset('hono-tool', new URL('/invoke', c.req.url).href)));

app.post('/invoke', async c => {
  deliver(await c.req.json());
  return c.body(null);
});

for (const path of ['/close_thread', '/cancel_tool_call']) app.post(path, c => c.body(null));

serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) => announce(port));
