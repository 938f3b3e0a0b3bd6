import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';

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

/** No body of an answer to a callback says this, so no code distinguishes the bodies. */
const STATUS_LINE = /HTTP\/1\.\d (\d{3}) [^\n]*\n/;

/** One connection on which no message waits for the answer to the one before (RFC 9112, 9.3.2). */
export class Pipeline {
  #socket;
  #waiting = [];
  #unread = '';

  /** The status that is answered. */
  post = (url, headers, body) => {
    const { host, hostname, port, pathname, search } = new URL(url);
    this.#socket ??= this.#open(Number(port), hostname);
    const fields = { host, 'content-length': Buffer.byteLength(body), ...headers };
    const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#socket.write([`POST ${pathname}${search} HTTP/1.1`, ...lines, '', body].join('\r\n'));
    });
  };

  close() {
    this.#socket?.end();
  }

  #open(port, host) {
    return connect(port, host)
      .setEncoding('latin1')
      .on('data', chunk => this.#take(chunk))
      .on('error', error => this.#fail(error))
      .on('close', () => this.#fail(new Error('the connection was closed')));
  }

  #take(chunk) {
    this.#unread += chunk;
    for (let found = STATUS_LINE.exec(this.#unread); found; found = STATUS_LINE.exec(this.#unread)) {
      this.#waiting.shift()?.resolve(Number(found[1]));
      this.#unread = this.#unread.slice(found.index + found[0].length);
    }
  }

  #fail(error) {
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }
}
