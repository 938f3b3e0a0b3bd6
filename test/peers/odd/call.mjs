import { once } from 'node:events';
import { request } from 'node:http';

/** One invocation, and the means to answer it well or badly. */
export class Call {
  #journal;

  constructor(invocation, { attempt, origin, response, journal }) {
    this.invocation = invocation;
    this.attempt = attempt;
    this.origin = origin;
    this.response = response;
    this.#journal = journal;
  }

  acknowledge(status = 200, headers = {}, body = '') {
    this.response.writeHead(status, headers).end(body);
  }

  /** The result that a good tool would send, changed by `fields`. */
  reply(fields = {}) {
    const { operation, group_id, id, call_id } = this.invocation;
    return { type: 'tool_result', group_id, id, call_id, text: `${operation} done`, ...fields };
  }

  /** Posts an object as JSON, or bytes as they are; never tries again. */
  async deliver(message, { url = this.invocation.callback_url, headers = {} } = {}) {
    const body = Buffer.isBuffer(message) ? message : Buffer.from(JSON.stringify(message));
    const sent = { 'content-type': 'application/json', 'content-length': body.length, ...headers };
    const entry = this.#journal.add('delivery', { url, headers: sent, raw: body.toString() });
    try {
      entry.status = await post(url, sent, body);
    } catch (error) {
      entry.error = error.code ?? error.message;
    }
  }
}

async function post(url, headers, body) {
  const outgoing = request(url, { method: 'POST', headers, agent: false });
  outgoing.end(body);
  const [answer] = await once(outgoing, 'response');
  answer.resume();
  // The status is known; what breaks after it is of no interest.
  outgoing.on('error', () => {});
  return answer.statusCode;
}
