import { type FixtureFile, fixtureFileSchema } from '../fixtures/fixture-file.js';
import { errorReply, type PlannedReply, planReply } from '../fixtures/reply.js';
import { checkValue } from '../json-schema/check-value.js';
import { type Invocation, invocationSchema } from '../protocol/invocation.js';
import { type Toolset, toolsetSchema } from '../protocol/toolset.js';
import { type Clock, systemClock } from '../system/clock.js';
import { readJson } from '../text/json.js';
import { createNodeClient } from '../transport/node-client.js';
import { type Answer, type Incoming, type Route, startServer } from '../transport/server.js';
import { deliver } from './deliver.js';

const MAX_INVOCATION = 10 * 1024 * 1024;

export interface RunningTool {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Serves fixtures as a tool on loopback: discovery, invocations, notices. It acknowledges at once and works afterwards.
 * @throws ZodError where `file` is no fixture file.
 */
export async function startFixtureTool(file: unknown, clock: Clock = systemClock): Promise<RunningTool> {
  const { toolset, fixtures } = fixtureFileSchema.parse(file);
  const client = createNodeClient();
  const pending = new Set<() => void>();
  const own: { toolset?: Toolset } = {};
  const later = ({ delayMs, result }: PlannedReply, url: string) => {
    const cancel = clock.after(delayMs, () => {
      pending.delete(cancel);
      void deliver(client, url, result);
    });
    pending.add(cancel);
  };
  const server = await startServer({
    maxBody: MAX_INVOCATION,
    routes: [
      route('GET', '/.well-known/rap-toolset', () => json(own.toolset)),
      route('POST', '/invoke', incoming => {
        const invocation = invocationSchema.safeParse(value(incoming));
        if (invocation.success)
          void answer(toolset, fixtures, invocation.data).then(reply =>
            later(reply, invocation.data.callback_url),
          );
        return { status: 200 };
      }),
      route('POST', '/close_thread', () => ({ status: 200 })),
      route('POST', '/cancel_tool_call', () => ({ status: 200 })),
    ],
  });
  own.toolset = toolsetSchema.parse({ ...toolset, endpoint: `${server.url}/invoke` });
  return {
    url: server.url,
    async close() {
      for (const cancel of pending) cancel();
      await Promise.all([server.close(), client.close()]);
    },
  };
}

/** Judged before anything is carried out (TOOL-VALIDATE). */
async function answer(
  toolset: FixtureFile['toolset'],
  fixtures: FixtureFile['fixtures'],
  invocation: Invocation,
): Promise<PlannedReply> {
  const tool = toolset.tools.find(({ name }) => name === invocation.operation);
  const names = toolset.tools.map(({ name }) => name).join(', ');
  if (!tool)
    return errorReply(
      invocation,
      `unknown operation ${JSON.stringify(invocation.operation)}. Use one of ${names}.`,
    );
  const check = await checkValue(tool.inputSchema, invocation.arguments);
  if (check.kind !== 'invalid') return planReply(fixtures, invocation);
  const faults = check.faults.map(({ path, message }) => `${path} ${message}`).join('; ');
  return errorReply(invocation, `the arguments do not fit: ${faults}. Correct them and call again.`);
}

function route(method: Route['method'], path: string, handle: (incoming: Incoming) => Answer): Route {
  return {
    name: path,
    method,
    accepts: method === 'POST' ? 'json' : 'nothing',
    serves: asked => asked === path,
    handle,
  };
}

function json(body: unknown): Answer {
  return { status: 200, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) };
}

function value({ body }: Incoming): unknown {
  const reading = readJson(body);
  return reading.ok ? reading.value : undefined;
}
