import { once } from 'node:events';
import { Agent, request } from 'node:http';

const CONNECTIONS = 4;

/** Each message on the next of several connections, all kept open: `{ post, close }`. */
export function severalConnections() {
  const agents = Array.from({ length: CONNECTIONS }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
  let count = 0;
  return {
    post: (url, headers, body) => postBy(agents[count++ % CONNECTIONS], { url, headers, body }),
    close() {
      for (const agent of agents) agent.destroy();
    },
  };
}

async function postBy(agent, { url, headers, body }) {
  const outgoing = request(url, { method: 'POST', headers, agent });
  outgoing.end(body);
  const [answer] = await once(outgoing, 'response');
  answer.resume();
  return answer.statusCode;
}
