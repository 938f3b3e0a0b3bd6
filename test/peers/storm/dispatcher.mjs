import { once } from 'node:events';
import { Agent, request } from 'node:http';

/** Posts over so many connections, which stay open. */
export function dispatcher(endpoint, connections) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  return {
    post: message => post(agent, endpoint, JSON.stringify(message)),
    close: () => agent.destroy(),
  };
}

async function post(agent, endpoint, body) {
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  const outgoing = request(endpoint, { method: 'POST', agent, headers });
  outgoing.end(body);
  const [answer] = await once(outgoing, 'response');
  answer.resume();
  return answer.statusCode;
}
