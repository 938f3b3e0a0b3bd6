import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import Anthropic from '@anthropic-ai/sdk';
import { ToolError } from '@anthropic-ai/sdk/lib/tools/ToolError';
import { generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';
import OpenAI from 'openai';

// The loop of an agent on each SDK, in this process. In JavaScript, since to check the types of the SDKs takes seconds.

const PROMPT = 'Do what I want.';
const SYSTEM = 'You are an agent.';
const MODEL = 'a-model';
const ARGUMENTS = { type: 'object', properties: {} };

async function anthropicSdk({ env, isStreamed, tools, runTool }) {
  const client = new Anthropic({ ...credentials(env, 'ANTHROPIC'), maxRetries: 0 });
  const messages = [{ role: 'user', content: PROMPT }];
  const called = [];
  for (;;) {
    const request = {
      model: MODEL,
      max_tokens: 1000,
      system: SYSTEM,
      messages,
      tools: tools.map(name => ({ name, input_schema: ARGUMENTS })),
    };
    const reply = isStreamed
      ? await client.messages.stream(request).finalMessage()
      : await client.messages.create(request);
    if (reply.stop_reason === 'end_turn') return { text: reply.content[0].text, messages: called };
    const uses = reply.content.filter(({ type }) => type === 'tool_use');
    called.push(uses.map(({ name }) => name));
    const results = uses.map(({ id, name, input }) => {
      const { text, isError = false } = runTool(name, input);
      return { type: 'tool_result', tool_use_id: id, content: text, is_error: isError };
    });
    messages.push({ role: 'assistant', content: reply.content }, { role: 'user', content: results });
  }
}

async function openaiSdk({ env, isStreamed, tools, runTool }) {
  const client = new OpenAI({ ...credentials(env, 'OPENAI'), maxRetries: 0 });
  const messages = [
    { role: 'system', content: SYSTEM },
    { role: 'user', content: PROMPT },
  ];
  const called = [];
  for (;;) {
    const request = {
      model: MODEL,
      messages,
      tools: tools.map(name => ({ type: 'function', function: { name, parameters: ARGUMENTS } })),
    };
    const { choices, usage } = isStreamed
      ? await client.chat.completions
          .stream({ ...request, stream_options: { include_usage: true } })
          .finalChatCompletion()
      : await client.chat.completions.create(request);
    if (!usage) throw new Error('the reply has no usage');
    const [{ message, finish_reason: reason }] = choices;
    if (reason === 'stop') return { text: message.content, messages: called };
    called.push(message.tool_calls.map(call => call.function.name));
    messages.push(message);
    for (const { id, function: call } of message.tool_calls) {
      const content = runTool(call.name, JSON.parse(call.arguments)).text;
      messages.push({ role: 'tool', tool_call_id: id, content });
    }
  }
}

/** Anthropic's own runner of tools, which sends only what is new in a message thread. */
async function anthropicRunner({ env, isStreamed, tools, runTool }) {
  const client = new Anthropic({ ...credentials(env, 'ANTHROPIC'), maxRetries: 0 });
  const called = [];
  const runner = client.beta.messages.toolRunner({
    model: MODEL,
    max_tokens: 1000,
    system: SYSTEM,
    messages: [{ role: 'user', content: PROMPT }],
    stream: isStreamed,
    tools: tools.map(name => ({
      name,
      description: name,
      input_schema: ARGUMENTS,
      parse: args => args,
      run: args => {
        const { text, isError } = runTool(name, args);
        if (isError) throw new ToolError(text);
        return text;
      },
    })),
  });
  let text = '';
  for await (const each of runner) {
    const { content } = isStreamed ? await each.finalMessage() : each;
    const uses = content.filter(({ type }) => type === 'tool_use');
    if (uses.length > 0) called.push(uses.map(({ name }) => name));
    else text = content[0].text;
  }
  return { text, messages: called };
}

/** The Responses API; a response continues the one before, or the whole conversation is sent. */
const responsesSdk =
  isContinued =>
  async ({ env, isStreamed, tools, runTool }) => {
    const client = new OpenAI({ ...credentials(env, 'OPENAI'), maxRetries: 0 });
    const called = [];
    let input = [{ role: 'user', content: PROMPT }];
    let previous;
    for (;;) {
      const request = {
        model: MODEL,
        instructions: SYSTEM,
        input,
        previous_response_id: previous,
        tools: tools.map(name => ({ type: 'function', name, parameters: ARGUMENTS, strict: false })),
      };
      const response = isStreamed
        ? await client.responses.stream(request).finalResponse()
        : await client.responses.create(request);
      const calls = response.output.filter(({ type }) => type === 'function_call');
      if (calls.length === 0) return { text: response.output_text, messages: called };
      called.push(calls.map(({ name }) => name));
      const results = calls.map(({ call_id, name, arguments: json }) => ({
        type: 'function_call_output',
        call_id,
        output: runTool(name, JSON.parse(json)).text,
      }));
      if (isContinued) previous = response.id;
      input = isContinued ? results : [...input, ...response.output, ...results];
    }
  };

async function aiSdk(model, { isStreamed, tools, runTool }) {
  const called = [];
  const request = {
    model,
    maxRetries: 0,
    maxOutputTokens: 1000,
    system: SYSTEM,
    prompt: PROMPT,
    stopWhen: stepCountIs(20),
    tools: Object.fromEntries(tools.map(name => [name, aiTool(args => runTool(name, args))])),
    onStepFinish: ({ toolCalls }) => {
      if (toolCalls.length > 0) called.push(toolCalls.map(({ toolName }) => toolName));
    },
  };
  const text = isStreamed ? await streamText(request).text : (await generateText(request)).text;
  return { text, messages: called };
}

function aiTool(run) {
  const execute = args => {
    const { text, isError } = run(args);
    if (isError) throw new Error(text);
    return text;
  };
  return tool({ inputSchema: jsonSchema(ARGUMENTS), execute });
}

function credentials(env, provider) {
  return { baseURL: env[`${provider}_BASE_URL`], apiKey: env[`${provider}_API_KEY`] };
}

export const modelsOf = {
  anthropic: env => namesIn(new Anthropic(credentials(env, 'ANTHROPIC'))),
  openai: env => namesIn(new OpenAI(credentials(env, 'OPENAI'))),
};

async function namesIn({ models }) {
  const { data } = await models.list();
  return data.map(({ id }) => id);
}

export const LOOPS = {
  '@anthropic-ai/sdk': { provider: 'anthropic', run: anthropicSdk },
  'the tool runner of @anthropic-ai/sdk': { provider: 'anthropic', run: anthropicRunner },
  'the Responses API of openai': { provider: 'openai', run: responsesSdk(false) },
  'the Responses API of openai, continued': { provider: 'openai', run: responsesSdk(true) },
  'ai with the default of @ai-sdk/openai': {
    provider: 'openai',
    run: setting => aiSdk(createOpenAI(credentials(setting.env, 'OPENAI'))(MODEL), setting),
  },
  openai: { provider: 'openai', run: openaiSdk },
  'ai with @ai-sdk/anthropic': {
    provider: 'anthropic',
    run: setting => aiSdk(createAnthropic(credentials(setting.env, 'ANTHROPIC'))(MODEL), setting),
  },
  'ai with @ai-sdk/openai': {
    provider: 'openai',
    run: setting => aiSdk(createOpenAI(credentials(setting.env, 'OPENAI')).chat(MODEL), setting),
  },
};
