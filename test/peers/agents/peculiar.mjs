import { setTimeout as pause } from 'node:timers/promises';
import { openTools } from './tools.mjs';

// An agent without an SDK, on the Chat Completions API. Its arguments name how it differs from other agents:
// `late`: takes long between discovery and its first request, as if it still imported modules
// `one`: runs one call of a message and ignores the others
// `stops`: ends at a tool that it does not have
// `ends-<n>`: ends when it got its nth call
// `wraps`: changes the text of results, and gives them as messages without an id
// `embeds`, `embeds-<n>`: asks the model for something else first, or when it got its nth call, and crashes without it
// `copes`: asks the model for something else first and at its end, and goes on without it
// `reports`: asks the model for something else at each result, and without it gives the model the error in place of the result
// `chats`: sends requests without tools, and never ends
// `hosts`: waits for the events of subscriptions after the turn of the model, and begins a new turn with each
// `deaf`: accepts events, and gives none to the model
// `leaves`, `half`: closes its thread nowhere, or at the first server only

const habits = new Set(process.argv.slice(2));
const isLast = count => habits.has(`ends-${count}`);
const tools = await openTools();
const messages = [{ role: 'user', content: 'Do what I want.' }];

if (habits.has('late')) await pause(4000);
const embed = input => post('/embeddings', { input });
const ignore = () => {};
if (habits.has('embeds')) await embed('Do what I want.');
if (habits.has('copes')) await embed('Do what I want.').catch(ignore);
while (habits.has('chats')) await post('/chat/completions', { messages });

let calls = 0;
for (;;) {
  const message = await complete();
  messages.push(message);
  const all = message.tool_calls ?? [];
  for (const call of habits.has('one') ? all.slice(0, 1) : all) if (await leavesAt(call)) process.exit();
  const results = await Promise.all((habits.has('one') ? all.slice(0, 1) : all).map(resultOf));
  if (results.length === 0) {
    const event = habits.has('hosts') ? await tools.nextEvent() : null;
    if (event === null) break;
    results.push({ role: 'user', content: event });
  } else if (!habits.has('hosts') && !habits.has('deaf')) {
    for (const content of tools.events()) results.push({ role: 'user', content });
  }
  messages.push(...results);
}
if (habits.has('copes')) await embed('What did I do?').catch(ignore);
const CLOSED = { leaves: 0, half: 1 };
await tools.close(CLOSED[Object.keys(CLOSED).find(each => habits.has(each))]);

/** @throws Error unless the model answers 200 */
async function post(path, body) {
  const response = await fetch(process.env.OPENAI_BASE_URL + path, {
    method: 'POST',
    body: JSON.stringify({ model: 'a-model', ...body }),
  });
  const answer = await response.json();
  if (response.status !== 200) throw new Error(answer.error.message);
  return answer;
}

async function complete() {
  const { choices } = await post('/chat/completions', {
    messages,
    tools: tools.all.map(({ name, description, inputSchema: parameters }) => ({
      type: 'function',
      function: { name, description, parameters },
    })),
  });
  return choices[0].message;
}

async function leavesAt({ function: { name } }) {
  calls += 1;
  if (habits.has(`embeds-${calls}`)) await embed(name);
  return isLast(calls) || (habits.has('stops') && !tools.all.some(each => each.name === name));
}

async function resultOf({ id, function: { name, arguments: json } }) {
  let { text } = await tools.run(name, JSON.parse(json), id);
  if (habits.has('reports')) text = await embed(text).then(() => text, String);
  return habits.has('wraps')
    ? { role: 'user', content: `Observation:\n${text}` }
    : { role: 'tool', tool_call_id: id, content: text };
}
