import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { readBody } from '../kit/http.mjs';
import { parsed } from '../kit/json.mjs';

/** Answers 200 to every callback and keeps it. A choice is answered with its default, as by an absent user. */
export async function openListener() {
  const callbacks = [];
  const server = createServer(async (request, response) => {
    const raw = (await readBody(request)).toString();
    const body = parsed(raw);
    response.end();
    callbacks.push({ url: request.url, headers: request.headers, body, raw, at: Date.now() });
    server.emit('callback', body);
    if (body?.type === 'user_choice') await choose(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    // Odd on purpose: a tool has to use the URL exactly as given.
    callbackUrl: `http://127.0.0.1:${server.address().port}/back/${randomUUID()}/?token=a%2Fb&n=1`,
    callbacks,
    resultWithin: (limitMs, id) => resultWithin(server, callbacks, limitMs, id),
    close: () => server.close().closeAllConnections(),
  };
}

async function resultWithin(server, callbacks, limitMs, id) {
  const isResult = body => body?.type === 'tool_result' && body.id === id;
  if (callbacks.some(({ body }) => isResult(body))) return;
  await new Promise(resolve => {
    const timer = setTimeout(resolve, limitMs);
    server.on('callback', body => {
      if (!isResult(body)) return;
      clearTimeout(timer);
      resolve();
    });
  });
}

function choose({ id, default: selected, response_url }) {
  return fetch(response_url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ id, selected }),
  });
}
