/**
 * A runtime with the structure and the behaviour of the sample runtime of the specification ("Building a Runtime"),
 * written anew, with a scripted model in the place of the real one.
 *
 * It does: discovery in turn, cached for the session; one error for all tools when two have the same name; the model's
 * ids; a POST that any 2xx acknowledges; results into the history of their thread, then the model again.
 * It does not: validate toolsets, arguments and callbacks; match results to calls; notice duplicates; retry; tell the
 * model of a call that failed; know `content`, display segments, questions, consent, subscriptions, views; handle the
 * messages of a thread in turn; notify servers.
 * What a web framework did there is as in Express 5: bodies of up to 100 KiB, 400 for what is not JSON, 500 for an error.
 *
 * The sample hands the whole history to the model as text, in which a result is the JSON of a `tool_result` block; the
 * driver shows the text in the block.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';

const MAX_BODY = 100 * 1024;

class SampleRuntime {
  #toolsets = new Map();
  #history = new Map();
  #server = createServer((request, response) => {
    this.#respond(request, response).catch(error => {
      process.stderr.write(`${error.message}\n`);
      response.writeHead(error.status ?? 500).end();
    });
  });

  /** @param model takes the history of a thread, and returns the calls that it makes: `{id, name, input}` */
  constructor(urls, model) {
    this.urls = urls;
    this.model = model;
  }

  async open() {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
    this.callbackUrl = `http://127.0.0.1:${this.#server.address().port}/callback`;
  }

  close() {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async takeMessage(thread, message) {
    this.#append(thread, { role: 'user', ...message });
    await this.#complete(thread);
  }

  #append(thread, message) {
    this.#history.set(thread, [...(this.#history.get(thread) ?? []), message]);
  }

  async #complete(thread) {
    const tools = await this.#loadTools();
    const calls = this.model(this.#history.get(thread));
    this.#append(thread, { role: 'assistant', calls });
    for (const call of calls) await this.#dispatch(tools, call, thread);
  }

  async #loadTools() {
    const tools = [];
    for (const url of this.urls) {
      const toolset = await this.#toolsetOf(url);
      for (const { name } of toolset?.tools ?? []) tools.push({ name, endpoint: toolset.endpoint });
    }
    const names = tools.map(({ name }) => name);
    const twice = names.filter((name, index) => names.indexOf(name) !== index);
    if (twice.length > 0) throw new Error(`two tools have the same name: ${twice.join(', ')}`);
    return tools;
  }

  /** The sample fetches twice for two messages at the same moment; here they share it, so that it behaves in one way. */
  async #toolsetOf(url) {
    const fetching = this.#toolsets.get(url) ?? this.#fetchToolset(url);
    this.#toolsets.set(url, fetching);
    const toolset = await fetching.catch(error => {
      this.#toolsets.delete(url);
      throw error;
    });
    if (!toolset) this.#toolsets.delete(url);
    return toolset;
  }

  async #fetchToolset(url) {
    const address = `${url.replace(/\/$/, '')}/.well-known/rap-toolset`;
    const response = await fetch(address, { headers: { accept: 'application/json' } });
    if (!response.ok) {
      process.stderr.write(`no toolset at ${url}: ${response.status}\n`);
      return null;
    }
    const toolset = await response.json();
    if (!Array.isArray(toolset.tools)) throw new TypeError('tools is not iterable');
    return toolset;
  }

  async #dispatch(tools, { id, name, input }, thread) {
    const tool = tools.find(each => each.name === name);
    if (!tool) throw new Error(`unknown tool ${name}`);
    const names = { id, call_id: null, callback_url: this.callbackUrl, group_id: thread, user_id: null };
    const response = await fetch(tool.endpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ operation: name, arguments: input, ...names }),
    });
    if (!response.ok) throw new Error(`${name} answered ${response.status}`);
  }

  async #respond(request, response) {
    if (request.url !== '/callback' || request.method !== 'POST') return void response.writeHead(404).end();
    const { type, group_id, id, text } = await readJson(request);
    if (type === 'tool_result') {
      this.#append(group_id, { role: 'user', result: id, text });
      await this.#complete(group_id);
    }
    if (type === 'subscription_event') process.stderr.write('an event came, which is not handled\n');
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}');
  }
}

/** Without a JSON content type the body is not parsed, and reading its members is an error. */
async function readJson(request) {
  const chunks = [];
  for await (const chunk of request.iterator({ destroyOnReturn: false })) chunks.push(chunk);
  if (!/^application\/json\b/i.test(request.headers['content-type'] ?? '')) return undefined;
  const bytes = Buffer.concat(chunks);
  if (bytes.length > MAX_BODY) throw Object.assign(new Error('the body is too large'), { status: 413 });
  try {
    const body = JSON.parse(bytes.toString());
    if (typeof body === 'object' && body !== null) return body;
  } catch {}
  throw Object.assign(new Error('the body is not a JSON object'), { status: 400 });
}

/** Runs the driver in this process; resolves when it has ended. */
export async function runSample({ input, output, env }) {
  const say = observation => void output.write(`${JSON.stringify(observation)}\n`);
  say({ cannot: ['answer', 'dismiss', 'cancel', 'migrate', 'human', 'question', 'consent', 'view'] });
  const shown = new Set();
  /** Makes the call that the oldest message asks for and that was not made yet. */
  const model = history => {
    for (const message of history) {
      const { result, text = '' } = message;
      if (result !== undefined && !shown.has(message)) say({ saw: 'model', id: result, text });
      shown.add(message);
    }
    const made = new Set(history.flatMap(({ calls = [] }) => calls));
    const asking = history.find(({ asksFor }) => asksFor && !made.has(asksFor));
    return asking ? [asking.asksFor] : [];
  };
  const runtime = new SampleRuntime(JSON.parse(env.TOOL_URLS), model);
  await runtime.open();
  for await (const line of createInterface({ input })) {
    const instruction = JSON.parse(line);
    if (instruction.do === 'end') break;
    if (instruction.do !== 'invoke') continue;
    const { operation: name, arguments: input, id } = instruction;
    runtime
      .takeMessage('thread_1', { text: `call ${name}`, asksFor: { id, name, input } })
      .catch(error => process.stderr.write(`${error.message}\n`));
  }
  runtime.close();
}
