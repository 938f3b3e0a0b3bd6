import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openTools } from './tools.mjs';

/**
 * An agent without an SDK, on the Chat Completions API. Its habits name how it differs from other agents:
 * `late`: takes long between discovery and its first request, as if it still imported modules
 * `one`: runs one call of a message and ignores the others
 * `stops`: ends at a tool that it does not have
 * `ends-<n>`: ends when it got its nth call
 * `wraps`: changes the text of results, and gives them as messages without an id
 * `embeds`, `embeds-<n>`: asks the model for something else first, or when it got its nth call, and crashes without it
 * `copes`: asks the model for something else first and at its end, and goes on without it
 * `reports`: asks the model for something else at each result, and without it gives the model the error in place of the result
 * `chats`: sends requests without tools, and never ends
 * `hosts`: waits for the events of subscriptions after the turn of the model, and begins a new turn with each
 * `deaf`: accepts events, and gives none to the model
 * `leaves`, `half`: closes its thread nowhere, or at the first server only
 */
export async function runPeculiar(habits, { env, signal }) {
  const tools = await openTools(env.TOOL_URLS);
  signal.addEventListener('abort', () => tools.stop(), { once: true });
  try {
    await new Agent(new Set(habits), tools, { env, signal }).run();
  } finally {
    tools.stop();
  }
}

const ignore = () => {};

/** How many servers, from the first on, get the notice that the thread is closed. */
const CLOSED = { leaves: 0, half: 1 };

class Agent {
  #messages = [{ role: 'user', content: 'Do what I want.' }];
  #calls = 0;

  constructor(habits, tools, { env, signal }) {
    Object.assign(this, { habits, tools, env, signal });
  }

  async run() {
    await this.#begin();
    if (!(await this.#converse())) return;
    if (this.habits.has('copes')) await this.#embed('What did I do?').catch(ignore);
    await this.tools.close(CLOSED[Object.keys(CLOSED).find(each => this.habits.has(each))]);
  }

  async #begin() {
    if (this.habits.has('late')) await pause(4000);
    if (this.habits.has('embeds')) await this.#embed('Do what I want.');
    if (this.habits.has('copes')) await this.#embed('Do what I want.').catch(ignore);
    while (this.habits.has('chats')) await this.#post('/chat/completions', { messages: this.#messages });
  }

  /** Resolves to whether it went on until the model ended its turn. */
  async #converse() {
    for (;;) {
      const message = await this.#complete();
      this.#messages.push(message);
      const all = message.tool_calls ?? [];
      const calls = this.habits.has('one') ? all.slice(0, 1) : all;
      for (const call of calls) if (await this.#leavesAt(call)) return false;
      const results = await Promise.all(calls.map(call => this.#resultOf(call)));
      const events = await this.#eventsAfter(results);
      if (results.length + events.length === 0) return true;
      this.#messages.push(...results, ...events.map(content => ({ role: 'user', content })));
    }
  }

  async #eventsAfter(results) {
    if (this.habits.has('hosts')) {
      const event = results.length === 0 ? await this.tools.nextEvent() : null;
      return event === null ? [] : [event];
    }
    return results.length === 0 || this.habits.has('deaf') ? [] : this.tools.events();
  }

  async #complete() {
    const tools = this.tools.all.map(({ name, description, inputSchema: parameters }) => ({
      type: 'function',
      function: { name, description, parameters },
    }));
    const { choices } = await this.#post('/chat/completions', { messages: this.#messages, tools });
    return choices[0].message;
  }

  async #leavesAt({ function: { name } }) {
    this.#calls += 1;
    if (this.habits.has(`embeds-${this.#calls}`)) await this.#embed(name);
    const isUnknown = !this.tools.all.some(each => each.name === name);
    return this.habits.has(`ends-${this.#calls}`) || (this.habits.has('stops') && isUnknown);
  }

  async #resultOf({ id, function: { name, arguments: json } }) {
    let { text } = await this.tools.run(name, JSON.parse(json), id);
    if (this.habits.has('reports')) text = await this.#embed(text).then(() => text, String);
    return this.habits.has('wraps')
      ? { role: 'user', content: `Observation:\n${text}` }
      : { role: 'tool', tool_call_id: id, content: text };
  }

  #embed(input) {
    return this.#post('/embeddings', { input });
  }

  /** @throws Error unless the model answers 200 */
  async #post(path, body) {
    const response = await fetch(this.env.OPENAI_BASE_URL + path, {
      method: 'POST',
      body: JSON.stringify({ model: 'a-model', ...body }),
      signal: this.signal,
    });
    const answer = await response.json();
    if (response.status !== 200) throw new Error(answer.error.message);
    return answer;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  await runPeculiar(process.argv.slice(2), { env: process.env, signal: new AbortController().signal });
