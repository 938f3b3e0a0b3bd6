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
 * The operations of all tool servers (a list of URLs in JSON), as an agent offers them to its model: `server0__answer`, and one that cancels a
 * subscription. `run` gives the `tool_result`, or an error result; `events` gives the events of open subscriptions that arrived since it
 * was last called; `nextEvent` waits for one, and gives null if no subscription is open.
 */
export async function openTools(urls = process.env.TOOL_URLS) {
  const runtime = await openRuntime();
  const bases = JSON.parse(urls);
  const tools = await Promise.all(bases.map((base, index) => toolsOf(runtime, base, `server${index}__`)));
  const names = tools.flat().map(({ operation }) => operation);
  const isUnique = ({ operation }) => names.indexOf(operation) === names.lastIndexOf(operation);
  const all = [...tools.flat().filter(isUnique), CANCEL];
  const canceled = new Set();
  const groupId = 'agent-thread';
  const given = new Set();
  const subscriptions = () =>
    runtime.calls.filter(({ invocation }) => !canceled.has(invocation.id)).map(subscriptionOf);
  const isNew = event => !given.has(event);
  const newEvents = () => {
    const all = subscriptions().flatMap(({ call, events }) =>
      events.filter(isNew).map(event => ({ event, arrivedAt: call.startedAt + event.ms })),
    );
    return all.toSorted((one, other) => one.arrivedAt - other.arrivedAt).map(({ event }) => event);
  };
  const take = events => {
    for (const event of events) given.add(event);
    return events.map(({ body }) => body.text);
  };
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
    events: () => take(newEvents()),
    async nextEvent() {
      const waiting = subscriptions().filter(({ isOpen, events }) => isOpen || events.some(isNew));
      if (waiting.length === 0) return null;
      const hasNew = ({ call }) =>
        call.waitFor(each => isNew(each) && subscriptionOf(call).events.includes(each));
      await Promise.race(waiting.map(hasNew));
      return take(newEvents().slice(0, 1))[0];
    },
    /** @param count the number of servers that get a notice, from the first on */
    async close(count = bases.length) {
      await Promise.all(bases.slice(0, count).map(base => runtime.closeThread(base, groupId)));
      runtime.close();
    },
    stop: () => runtime.close(),
  };
}

/** The events of the subscription that a call opened: after its result, up to the final one. */
function subscriptionOf(call) {
  const { id, group_id: thread } = call.invocation;
  const opened = call.callbacks.findIndex(({ body }) => body?.type === 'tool_result' && body.subscription);
  const own = (opened < 0 ? [] : call.callbacks.slice(opened)).filter(
    ({ body }) => body?.type === 'subscription_event' && body.tool_call_id === id && body.group_id === thread,
  );
  const final = own.findIndex(({ body }) => body.final);
  return {
    call,
    isOpen: opened >= 0 && final < 0,
    events: final < 0 ? own : own.slice(0, final + 1),
  };
}

async function toolsOf(runtime, base, prefix) {
  const { tools } = await runtime.discover(base);
  return tools.map(({ name, ...rest }) => ({ ...rest, base, operation: name, name: prefix + name }));
}
