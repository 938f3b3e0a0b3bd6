/**
 * Right agents in this process: the example runtime of fixtures/runtimes/node, and a loop that asks the scripted model on the Chat
 * Completions API. Each differs in one habit that is its own business. `disturbs`: the scenarios that it could disturb.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { UnhurriedRuntime } from '../drivers/legal-wire.mjs';

const CALLS = ['result', 'parallel-calls', 'unknown-operation', 'arguments'];
const RESULTS = ['result', 'texts', 'content', 'refusals', 'duplicates'];
const EVENTS = ['subscription', 'subscription-canceled-by-model', 'at-once'];

const same = value => value;

/** The habits of an ordinary agent. */
const ORDINARY = {
  startMs: 0,
  /** How many calls of a message it runs. */
  most: Number.POSITIVE_INFINITY,
  pauseMs: 0,
  closes: true,
  stopsAtUnknown: false,
  nameOf: (operation, index) => `server${index}__${operation}`,
  canCancel: true,
  contentOf: same,
  /** What it sends to the model. */
  request: same,
  /** What it remembers. */
  kept: same,
  failureOf: same,
  asksFirst: [],
};

const habit = (disturbs, habits) => ({ disturbs, habits });

const CANCEL = {
  name: 'cancel_subscription',
  description: 'Cancels the subscription that a call opened',
  inputSchema: {
    type: 'object',
    properties: { tool_call_id: { type: 'string' } },
    required: ['tool_call_id'],
  },
};

export const LEGAL_AGENTS = {
  ordinary: habit([...CALLS, ...EVENTS, 'consent', 'close', 'invalid-events'], {}),
  'slow-imports': habit(['result', 'consent'], { startMs: 6_000 }),
  'one-call-of-a-message': habit([...CALLS, 'at-once', 'early-and-late', 'invalid-toolsets'], { most: 1 }),
  'two-calls-of-a-message': habit([...CALLS, 'at-once'], { most: 2 }),
  'thinks-between-messages': habit([...CALLS, 'subscription'], { pauseMs: 300 }),
  'leaves-its-thread-open': habit(['result', 'close', 'at-once', 'invalid-toolsets'], { closes: false }),
  'stops-at-an-unknown-tool': habit(
    ['unknown-operation', 'invalid-toolsets', 'duplicate-operations', 'changing-toolset'],
    {
      stopsAtUnknown: true,
    },
  ),
  'own-tool-names': habit([...CALLS, 'duplicate-operations'], {
    nameOf: (operation, index) => `mcp__rap-${index}__${operation}`,
  }),
  'plain-tool-names': habit([...CALLS, 'changing-toolset'], { nameOf: operation => operation }),
  'no-tool-to-cancel': habit(['subscription-canceled-by-model', 'subscription'], { canCancel: false }),
  'texts-in-parts': habit(RESULTS, { contentOf: text => [{ type: 'text', text }] }),
  'failures-in-own-words': habit(['refusals', 'unknown-operation', 'arguments', 'status-500'], {
    failureOf: text => `Error: the tool failed. ${text}`,
  }),
  'other-settings': habit(RESULTS, {
    request: ({ messages, ...rest }) => ({
      temperature: 0,
      metadata: { run: '42' },
      parallel_tool_calls: true,
      ...rest,
      messages,
    }),
  }),
  'forgets-old-messages': habit([...RESULTS, 'parallel-calls', 'subscription'], {
    kept: messages => {
      const lastCall = messages.findLastIndex(({ tool_calls: calls }) => calls?.length > 0);
      return lastCall < 0 ? messages : [messages[0], ...messages.slice(lastCall)];
    },
  }),
  'reminders-in-the-conversation': habit(RESULTS, {
    kept: messages => [...messages, { role: 'user', content: 'Reminder: be brief.' }],
  }),
  'asks-for-a-title-first': habit(['result', 'consent'], {
    asksFirst: [{ messages: [{ role: 'user', content: 'A title for: do what I want' }] }],
  }),
};

/** Runs an agent in this process; resolves when it has ended. */
export async function runAgent(name, { env, signal }) {
  const habits = { ...ORDINARY, ...LEGAL_AGENTS[name].habits };
  const waiting = new Map();
  const events = [];
  const give = (id, text) => {
    const resolve = waiting.get(id);
    waiting.delete(id);
    if (resolve) resolve(text);
    else events.push(text);
  };
  const ignore = () => {};
  const runtime = new UnhurriedRuntime({
    model: give,
    failure: (id, text) => give(id, habits.failureOf(text)),
    human: ignore,
    question: ignore,
    consent: ignore,
    view: ignore,
  });
  const resultOf = id => new Promise(resolve => waiting.set(id, resolve));
  const stopped = new Promise(resolve =>
    signal.addEventListener('abort', () => resolve(null), { once: true }),
  );
  try {
    await Promise.race([converse(runtime, habits, { env, signal, events, resultOf }), stopped]);
  } finally {
    runtime.listener?.close();
    runtime.listener?.closeAllConnections();
  }
}

async function converse(runtime, habits, { env, signal, events, resultOf }) {
  await wait(habits.startMs);
  await runtime.open(JSON.parse(env.TOOL_URLS));
  const offered = offersOf(runtime, habits);
  const post = body => ask(env, habits.request({ model: 'a-model', ...body }), signal);
  for (const request of habits.asksFirst) await post(request);
  const messages = [{ role: 'user', content: 'Do what I want.' }];
  for (;;) {
    const message = await post({ messages: habits.kept(messages), tools: offered.map(describe) });
    const calls = message.tool_calls?.slice(0, habits.most) ?? [];
    messages.push(message.tool_calls ? { ...message, tool_calls: calls } : message);
    if (calls.length === 0) break;
    const isUnknown = call => !offered.some(({ name }) => name === call.function.name);
    if (habits.stopsAtUnknown && calls.some(isUnknown)) break;
    const run = call => runCall(runtime, offered, call, resultOf);
    const texts = await Promise.all(calls.map(run));
    for (const [index, text] of texts.entries())
      messages.push({ role: 'tool', tool_call_id: calls[index].id, content: habits.contentOf(text) });
    for (const content of events.splice(0)) messages.push({ role: 'user', content });
    await wait(habits.pauseMs);
  }
  if (habits.closes) await runtime.close();
}

/** As the example runtime: a name that two servers have is available from neither. */
function offersOf(runtime, { nameOf, canCancel }) {
  const all = runtime.servers.flatMap(({ toolset }, index) =>
    (toolset?.tools ?? []).map(tool => ({ ...tool, operation: tool.name, name: nameOf(tool.name, index) })),
  );
  const own = all.filter(({ operation }) => runtime.find(operation));
  return canCancel ? [...own, CANCEL] : own;
}

function describe({ name, description, inputSchema: parameters }) {
  return { type: 'function', function: { name, description, parameters } };
}

async function runCall(runtime, offered, { id, function: { name, arguments: json } }, resultOf) {
  const args = JSON.parse(json);
  if (name === CANCEL.name) {
    await runtime.cancelSubscription(args.tool_call_id);
    return 'canceled';
  }
  const tool = offered.find(each => each.name === name);
  if (!tool) return `Error: unknown tool ${name}`;
  const result = resultOf(id);
  void runtime.invoke(tool.operation, args, { id }); // a result may come before the acknowledgement
  return result;
}

async function ask(env, body, signal) {
  const response = await fetch(`${env.OPENAI_BASE_URL}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal,
  });
  const answer = await response.json();
  if (response.status !== 200) throw new Error(answer.error.message);
  return answer.choices[0].message;
}
