/** An agent on the AI SDK with its provider for OpenAI, which uses the Responses API. */
import { openai } from '@ai-sdk/openai';
import { generateText, jsonSchema, stepCountIs, tool } from 'ai';
import { openTools, PROMPT } from './rap-tools.mjs';

const tools = await openTools();
const { text } = await generateText({
  model: openai('gpt-5'),
  prompt: PROMPT,
  stopWhen: stepCountIs(50),
  tools: Object.fromEntries(
    tools.all.map(({ name, description, inputSchema }) => [
      name,
      tool({ description, inputSchema: jsonSchema(inputSchema), execute: args => tools.call(name, args) }),
    ]),
  ),
});
await tools.close();
process.stdout.write(`${text}\n`);
