import { setTimeout as sleep } from 'node:timers/promises';

/** What the custom tools of the clients do, by name. */
const TOOLS = {
  lookup_order: () => 'shipped',
  echo: args => args,
  explode: () => {
    throw new Error('Order not found');
  },
  nothing: () => undefined,
  slow: async ({ ms }) => {
    await sleep(ms);
    return ms;
  },
};

export const declared = Object.keys(TOOLS).map(name => ({
  name,
  description: name,
  input_schema: { type: 'object' },
}));

/** A settled call: no tool and a failing tool are errors of the client, and no result is null. */
export async function settled(tool_req) {
  const { tool_name, args } = tool_req;
  try {
    if (!Object.hasOwn(TOOLS, tool_name)) throw new Error(`Unknown tool: ${tool_name}`);
    return { kind: 'tool_result', tool_req, result: (await TOOLS[tool_name](args ?? {})) ?? null };
  } catch (error) {
    return { kind: 'error_event', error: error.message, origin: 'client', tool_req };
  }
}
