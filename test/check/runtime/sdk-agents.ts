import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import Anthropic from '@anthropic-ai/sdk';
import { generateText, type LanguageModel, stepCountIs, streamText, tool } from 'ai';
import OpenAI from 'openai';
import * as z from 'zod';

type Env = Readonly<Record<string, string>>;

/** A tool result as the agent gets it from its tools. */
export interface Result {
  readonly text: string;
  readonly isError?: boolean;
}

export type RunTool = (name: string, args: unknown) => Result;

interface Setting {
  /** The variables that the model sets for the agent. */
  readonly env: Env;
  readonly isStreamed: boolean;
  readonly tools: readonly string[];
  readonly runTool: RunTool;
}

/** Talks to the model until it ends its turn. Returns the final text, and the names of the tools called in each message. */
type Agent = (setting: Setting) => Promise<{ text: string; messages: string[][] }>;

const PROMPT = 'Do what I want.';

const MODEL = 'a-model';

const ARGUMENTS = { type: 'object' as const, properties: {} };

async function anthropicSdk({ env, isStreamed, tools, runTool }: Setting) {
  const client = new Anthropic({
    baseURL: env['ANTHROPIC_BASE_URL'],
    apiKey: env['ANTHROPIC_API_KEY'],
    maxRetries: 0,
  });
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: PROMPT }];
  const called: string[][] = [];
  for (;;) {
    const request = {
      model: MODEL,
      max_tokens: 1000,
      system: 'You are an agent.',
      messages,
      tools: tools.map(name => ({ name, input_schema: ARGUMENTS })),
    };
    const reply = isStreamed
      ? await client.messages.stream(request).finalMessage()
      : await client.messages.create(request);
    const uses = reply.content.filter(block => block.type === 'tool_use');
    if (reply.stop_reason === 'end_turn')
      return {
        text: reply.content.map(block => (block.type === 'text' ? block.text : '')).join(''),
        messages: called,
      };
    called.push(uses.map(({ name }) => name));
    const results = uses.map(({ id, name, input }) => {
      const { text, isError = false } = runTool(name, input);
      return { type: 'tool_result' as const, tool_use_id: id, content: text, is_error: isError };
    });
    messages.push({ role: 'assistant', content: reply.content }, { role: 'user', content: results });
  }
}

async function openaiSdk({ env, isStreamed, tools, runTool }: Setting) {
  const client = new OpenAI({
    baseURL: env['OPENAI_BASE_URL'],
    apiKey: env['OPENAI_API_KEY'],
    maxRetries: 0,
  });
  const messages: OpenAI.ChatCompletionMessageParam[] = [
    { role: 'system', content: 'You are an agent.' },
    { role: 'user', content: PROMPT },
  ];
  const called: string[][] = [];
  for (;;) {
    const request = {
      model: MODEL,
      messages,
      tools: tools.map(name => ({ type: 'function' as const, function: { name, parameters: ARGUMENTS } })),
    };
    const reply = isStreamed
      ? await client.chat.completions
          .stream({ ...request, stream_options: { include_usage: true } })
          .finalChatCompletion()
      : await client.chat.completions.create(request);
    const [choice] = reply.choices;
    if (!choice || !reply.usage) throw new Error('the reply has no choice or no usage');
    if (choice.finish_reason === 'stop') return { text: choice.message.content ?? '', messages: called };
    const calls = (choice.message.tool_calls ?? []).filter(call => call.type === 'function');
    called.push(calls.map(call => call.function.name));
    messages.push(choice.message);
    for (const {
      id,
      function: { name, arguments: json },
    } of calls)
      messages.push({ role: 'tool', tool_call_id: id, content: runTool(name, JSON.parse(json)).text });
  }
}

async function aiSdk(model: LanguageModel, { isStreamed, tools, runTool }: Setting) {
  const called: string[][] = [];
  const request = {
    model,
    maxRetries: 0,
    maxOutputTokens: 1000,
    system: 'You are an agent.',
    prompt: PROMPT,
    stopWhen: stepCountIs(20),
    tools: Object.fromEntries(
      tools.map(name => [
        name,
        tool({
          inputSchema: z.looseObject({}),
          execute: args => {
            const { text, isError } = runTool(name, args);
            if (isError) throw new Error(text);
            return text;
          },
        }),
      ]),
    ),
    onStepFinish: ({ toolCalls }: { toolCalls: readonly { toolName: string }[] }) => {
      if (toolCalls.length > 0) called.push(toolCalls.map(call => call.toolName));
    },
  };
  const text = isStreamed ? await streamText(request).text : (await generateText(request)).text;
  return { text, messages: called };
}

export const AGENTS: Readonly<Record<string, { provider: 'anthropic' | 'openai'; run: Agent }>> = {
  '@anthropic-ai/sdk': { provider: 'anthropic', run: anthropicSdk },
  openai: { provider: 'openai', run: openaiSdk },
  'ai with @ai-sdk/anthropic': {
    provider: 'anthropic',
    run: setting => {
      const { ANTHROPIC_BASE_URL: baseURL = '', ANTHROPIC_API_KEY: apiKey = '' } = setting.env;
      return aiSdk(createAnthropic({ baseURL, apiKey })(MODEL), setting);
    },
  },
  'ai with @ai-sdk/openai': {
    provider: 'openai',
    run: setting => {
      const { OPENAI_BASE_URL: baseURL = '', OPENAI_API_KEY: apiKey = '' } = setting.env;
      return aiSdk(createOpenAI({ baseURL, apiKey }).chat(MODEL), setting);
    },
  },
};
