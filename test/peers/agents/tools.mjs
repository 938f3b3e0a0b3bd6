import { openRuntime } from '../runtime.mjs';

/** With it the model cancels a subscription. */
const CANCEL = {
  name: 'cancel_subscription',
  description: 'Cancels the subscription that a call opened',
  inputSchema: {
    type: 'object',
    properties: { tool_call_id: { type: 'string' } },
    required: ['tool_call_id'],
  },
};

/**
 * The operations of all tool servers in TOOL_URLS, as an agent offers them to its model: `server0__answer`, and one that cancels a
 * subscription. `run` gives the `tool_result`, or an error result; `events` gives the events of open subscriptions that arrived since it
 * was last called.
 */
export async function openTools() {
  const runtime = await openRuntime();
  const bases = JSON.parse(process.env.TOOL_URLS);
  const tools = await Promise.all(bases.map((base, index) => toolsOf(runtime, base, `server${index}__`)));
  const all = [...tools.flat(), CANCEL];
  const canceled = new Set();
  const groupId = 'agent-thread';
  let seen = 0;
  return {
    all,
    async run(name, args, id) {
      if (name === CANCEL.name) {
        canceled.add(args.tool_call_id);
        await Promise.all(bases.map(base => runtime.cancel(base, groupId, args.tool_call_id)));
        return { text: 'canceled' };
      }
      const tool = all.find(each => each.name === name);
      if (!tool) return { text: `Error: unknown tool ${name}`, isError: true };
      const call = await runtime.invoke(tool.base, tool.operation, args, { id, groupId });
      if (call.ack.status !== 200)
        return { text: `Error: the tool answered ${call.ack.status}`, isError: true };
      const { body } = await call.result();
      return { ...body, isError: body.text?.startsWith('Error: ') ?? false };
    },
    events() {
      const arrived = runtime.calls.flatMap(({ callbacks }) => callbacks).map(({ body }) => body);
      const events = arrived.filter(({ type }) => type === 'subscription_event');
      const added = events.slice(seen);
      seen = events.length;
      return added.filter(({ tool_call_id: id }) => !canceled.has(id)).map(({ text }) => text);
    },
    async close() {
      await Promise.all(bases.map(base => runtime.closeThread(base, groupId)));
      runtime.close();
    },
  };
}

async function toolsOf(runtime, base, prefix) {
  const { tools } = await runtime.discover(base);
  return tools.map(({ name, ...rest }) => ({ ...rest, base, operation: name, name: prefix + name }));
}
