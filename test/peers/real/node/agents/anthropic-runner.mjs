/** An agent on the tool runner of Anthropic's SDK for TypeScript. */
import Anthropic from '@anthropic-ai/sdk';
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import { openTools, PROMPT } from './rap-tools.mjs';

const tools = await openTools();
const message = await new Anthropic().beta.messages.toolRunner({
  model: 'claude',
  max_tokens: 1000,
  messages: [{ role: 'user', content: PROMPT }],
  tools: tools.all.map(({ name, description, inputSchema }) =>
    betaTool({ name, description, inputSchema, run: args => tools.call(name, args) }),
  ),
});
await tools.close();
process.stdout.write(`${message.content.at(-1)?.text}\n`);
