import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, request } from 'node:http';

/** The least code for one call: it checks, times, retries and prints nothing. */
const [base, operation, args] = process.argv.slice(2);
const { endpoint } = JSON.parse(await send('GET', `${base}/.well-known/rap-toolset`));

const listener = createServer(async (callback, answer) => {
  const { text } = JSON.parse(await bodyOf(callback));
  answer.writeHead(200, { connection: 'close' }).end();
  listener.close();
  process.stdout.write(text);
});
listener.listen(0, '127.0.0.1');
await once(listener, 'listening');

const invocation = {
  operation,
  arguments: JSON.parse(args),
  id: randomUUID(),
  group_id: randomUUID(),
  callback_url: `http://127.0.0.1:${listener.address().port}/`,
};
await send('POST', endpoint, JSON.stringify(invocation));

async function send(method, url, body) {
  const sent = request(url, { method, headers: { 'content-type': 'application/json' } }).end(body);
  const [answer] = await once(sent, 'response');
  return bodyOf(answer);
}

async function bodyOf(message) {
  const chunks = [];
  for await (const chunk of message) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
