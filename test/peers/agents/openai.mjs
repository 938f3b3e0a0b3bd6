import OpenAI from 'openai';
import { openTools } from './tools.mjs';

// An agent on the SDK of OpenAI, which finds the model in OPENAI_BASE_URL. It does not stream.

const client = new OpenAI();
const tools = await openTools();
const messages = [
  { role: 'system', content: 'You are an agent.' },
  { role: 'user', content: 'Do what I want.' },
];

for (;;) {
  const { choices } = await client.chat.completions.create({
    model: 'a-model',
    messages,
    tools: tools.all.map(({ name, description, inputSchema }) => ({
      type: 'function',
      function: { name, description, parameters: { type: 'object', ...inputSchema } },
    })),
  });
  const [{ message, finish_reason: reason }] = choices;
  if (reason !== 'tool_calls') break;
  messages.push(message, ...(await Promise.all(message.tool_calls.map(resultOf))));
  for (const content of tools.events()) messages.push({ role: 'user', content });
}
await tools.close();

async function resultOf({ id, function: { name, arguments: json } }) {
  const { text, content } = await tools.run(name, JSON.parse(json), id);
  return { role: 'tool', tool_call_id: id, content: text ?? content.map(part => part.text ?? '').join('\n') };
}
