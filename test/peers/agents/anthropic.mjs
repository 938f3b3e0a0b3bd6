import Anthropic from '@anthropic-ai/sdk';
import { openTools } from './tools.mjs';

// An agent on the SDK of Anthropic, which finds the model in ANTHROPIC_BASE_URL. It streams and prints what the model says.

const client = new Anthropic();
const tools = await openTools();
const messages = [{ role: 'user', content: 'Do what I want.' }];

for (;;) {
  const stream = client.messages.stream({
    model: 'a-model',
    max_tokens: 1000,
    system: [{ type: 'text', text: 'You are an agent.', cache_control: { type: 'ephemeral' } }],
    messages,
    tools: tools.all.map(({ name, description, inputSchema }) => ({
      name,
      description,
      input_schema: { type: 'object', ...inputSchema },
    })),
  });
  stream.on('text', text => process.stdout.write(text));
  const { content, stop_reason: reason } = await stream.finalMessage();
  if (reason !== 'tool_use') break;
  messages.push({ role: 'assistant', content });
  const calls = content.filter(({ type }) => type === 'tool_use');
  const results = await Promise.all(calls.map(resultOf));
  const events = tools.events().map(text => ({ type: 'text', text }));
  messages.push({ role: 'user', content: [...results, ...events] });
}
await tools.close();

async function resultOf({ id, name, input }) {
  const { text, content, isError } = await tools.run(name, input, id);
  return {
    type: 'tool_result',
    tool_use_id: id,
    content: content?.length ? content.map(partOf) : text,
    is_error: isError,
  };
}

function partOf({ type, text, data, mediaType }) {
  if (type === 'text') return { type, text };
  return { type, source: { type: 'base64', media_type: mediaType, data } };
}
