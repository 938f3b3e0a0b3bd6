import { readAs, translate } from '../dialects/dialects.js';
import { createLog } from '../events/log.js';
import { createNodeClient } from '../http/node-client.js';
import { error, type HandlerInput, result, type ToolDefinition } from '../mock/handlers.js';
import { NO_FIXTURES } from '../mock/mock-state.js';
import { startMockTool } from '../mock/mock-tool.js';
import { toolSchema } from '../protocol/toolset.js';
import { validate } from '../protocol/validate.js';
import { connectMcp, type McpServer } from '../runtime/mcp/connection.js';
import { systemClock } from '../system/drafts.js';
import { secretsOf } from '../util/credentials.js';
import { ProtocolCliError } from '../util/errors.js';
import { excerpt } from '../util/excerpt.js';
import { isRecord } from '../util/json-diagnosis.js';
import { createRedactor, type Redactor } from '../util/redact.js';
import type { ReachOptions } from './started-server.js';
import type { McpTarget } from './target.js';
import { PROGRAM } from './terminal.js';

/** Time to start, to shake hands and to list the tools, in ms. */
const START_MS = 10_000;
/** Of one message. */
const MAX_BYTES = 64 * 1024 * 1024;

/**
 * Serves the tools of an MCP server as a RAP toolset on loopback, as the reference runtime does. Returns its URL.
 * @throws ProtocolCliError `command-failed`, `unreachable` or `no-discovery`.
 */
export async function startMcpToolset(
  { name, server: target }: McpTarget,
  { onStop, onStderr, onWarning = () => {} }: ReachOptions,
): Promise<string> {
  const redactor = createRedactor(secretsOf(target.headers ?? {}));
  const until = systemClock.now() + START_MS;
  const server = await connectMcp(target, {
    version: PROGRAM.slice(PROGRAM.indexOf('/') + 1),
    log: createLog(systemClock.now),
    maxBytes: MAX_BYTES,
    limitMs: START_MS,
    left: () => Math.max(1, until - systemClock.now()),
    onStop,
    ...(onStderr && { onStderr }),
  }).catch((cause: unknown) => {
    throw cause instanceof ProtocolCliError ? redacted(cause, redactor) : cause;
  });
  for (const note of server.notes()) onWarning(redactor.text(`${name}: ${note}`));
  const handlers = server.tools.flatMap(tool => {
    const checked = validate(toolSchema, tool);
    if (checked.ok) return [{ ...tool, handle: forwarding(server, tool.name, redactor) }];
    onWarning(`${name}: the tool ${excerpt(tool.name)} is left out: ${checked.faults.join('; ')}`);
    return [];
  });
  if (handlers.length === 0)
    throw new ProtocolCliError('no-discovery', `the MCP server "${name}" offers no usable tool`);
  const tool = await startMockTool({
    fixtures: { ...NO_FIXTURES, toolset: { name: name.slice(0, 128), tools: [], needsMigration: false } },
    handlers,
    client: async () => createNodeClient(),
  });
  onStop(() => tool.close({ drainMs: 0 }));
  return tool.url;
}

/** Calls the MCP tool; a cancelled RAP call is cancelled there too. */
function forwarding(server: McpServer, name: string, redactor: Redactor): ToolDefinition['handle'] {
  return async ({ arguments: args, signal }: HandlerInput<object>) => {
    try {
      server.checkCallable(name);
      const answer = await server.request('tools/call', { name, arguments: { ...args } }, { signal });
      const reading = readAs('mcp', answer);
      if (!reading.ok) return error(`the MCP server sent an invalid result: ${reading.faults.join('; ')}`);
      const { body } = translate(reading, 'rap');
      return isRecord(body) ? result(withoutIds(body)) : error('the MCP server sent an invalid result');
    } catch (cause) {
      const { message, faults } =
        cause instanceof ProtocolCliError ? cause : server.explain(cause, 'tools/call');
      return error(redactor.text([message, ...faults].join('\n')));
    }
  };
}

/** The ids of the invocation are filled in where the result has none. */
function withoutIds({ type: _, group_id: __, id: ___, ...rest }: Record<string, unknown>) {
  return rest;
}

function redacted({ code, message, hint, faults, cause }: ProtocolCliError, redactor: Redactor) {
  return new ProtocolCliError(code, redactor.text(message), {
    faults: faults.map(fault => redactor.text(fault)),
    ...(hint !== undefined && { hint }),
    cause,
  });
}
