import { once } from 'node:events';
import { createServer } from 'node:http';
import { readBody } from '../kit/http.mjs';
import { parsed } from '../kit/json.mjs';

/** Answers 200 to everything and enters it under the path that it came to. */
export async function openInbox(accounts) {
  const server = createServer(async (request, response) => {
    const raw = await readBody(request).catch(() => null);
    response.end();
    if (raw) accounts.take(request.url, parsed(raw.toString()));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    close: () => server.close().closeAllConnections(),
  };
}
