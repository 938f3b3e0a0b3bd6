import { once } from 'node:events';
import { createServer } from 'node:http';
import { answer, take } from './kit.mjs';

/** The receivers that a tool's deliveries have to survive, by name. */
export const SINKS = {
  ok: 200,
  hang: 'hang',
  broken: 500,
  reset: 'reset',
  half: 'half',
  drip: 'drip',
  endless: 'endless',
  moved: { status: 301, headers: { location: '/moved' } },
  refuses: 400,
  busy: { status: 503, headers: { 'retry-after': '1' } },
};

/** Gives the answers (of kit.mjs) to one request after another, and the last one from then on. */
export async function openSink(...answers) {
  const sink = { connections: 0, open: 0, mostOpen: 0, requests: [], followed: 0 };
  const server = createServer((request, response) => {
    const how = answers[Math.min(sink.requests.length, answers.length - 1)] ?? 200;
    receive(sink, request, response, how).catch(() => response.destroy());
  });
  server.on('connection', socket => {
    sink.connections += 1;
    sink.open += 1;
    sink.mostOpen = Math.max(sink.mostOpen, sink.open);
    socket.once('close', () => {
      sink.open -= 1;
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  sink.url = `http://127.0.0.1:${server.address().port}/sink?token=a%2Fb`;
  sink.close = async () => {
    const closed = once(server, 'close');
    server.close().closeAllConnections();
    await closed;
  };
  sink[Symbol.asyncDispose] = sink.close;
  return sink;
}

/** A request counts from its head on; `raw` is there once the body is. */
async function receive(sink, request, response, how) {
  const { method, url, headers } = request;
  const entry = { method, url, headers, raw: null, at: Date.now() };
  sink.requests.push(entry);
  if (url === '/moved') sink.followed += 1;
  entry.raw = (await take(request, how)).toString();
  await answer(response, how);
}
