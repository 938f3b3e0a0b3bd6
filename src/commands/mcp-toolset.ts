import { readAs, translate } from '../dialects/dialects.js';
import { createLog } from '../events/log.js';
import { createNodeClient } from '../http/node-client.js';
import type { HandlerCall, ToolDefinition } from '../mock/handlers.js';
import { startMockTool } from '../mock/mock-tool.js';
import { NO_FIXTURES } from '../mock/responder.js';
import { error, result } from '../mock/tool-output.js';
import { answerOf, choiceOf, defaultsOf, elicitationSchema, questionOf } from '../protocol/mcp.js';
import { toolSchema } from '../protocol/toolset.js';
import { validate } from '../protocol/validate.js';
import { connectMcp, type Elicit, type McpServer } from '../runtime/mcp/connection.js';
import type { McpTarget } from '../runtime/mcp/link.js';
import { systemClock } from '../system/clock.js';
import type { Sink } from '../system/streams.js';
import { secretsOfHeaders } from '../util/credentials.js';
import { ProtocolCliError } from '../util/errors.js';
import { LIMITS } from '../util/limits.js';
import { createRedactor } from '../util/redact.js';
import { excerpt, joinFirst } from '../util/text.js';
import { isRecord, recordOf } from '../util/values.js';
import { type OnStop, VERSION } from './terminal.js';

interface ToolsetOptions {
  readonly onStop: OnStop;
  /** Receives what the server writes to stderr. */
  readonly onStderr?: Sink;
  /** Receives warnings about tools that are left out. */
  readonly onWarning?: (message: string) => void;
}

/** Time limit in ms for the start, the handshake and the list of tools. */
const START_MS = 10_000;

/**
 * Serves the tools of an MCP server as a RAP toolset on loopback, as the reference runtime does. Returns its URL.
 * @throws ProtocolCliError `command-failed`, `unreachable` or `no-discovery`.
 */
export async function startMcpToolset(
  name: string,
  target: McpTarget,
  { onStop, onStderr, onWarning = () => {} }: ToolsetOptions,
): Promise<string> {
  const redact = createRedactor(secretsOfHeaders(target.headers ?? {})).text;
  const server = await connectMcp(target, {
    version: VERSION,
    log: createLog(systemClock.now),
    maxBytes: LIMITS.messageBytes.value,
    limitMs: START_MS,
    onStop,
    ...(onStderr && { onStderr }),
  }).catch((cause: unknown) => {
    throw cause instanceof ProtocolCliError ? cause.mapText(redact) : cause;
  });
  for (const note of server.notes()) onWarning(redact(`${name}: ${note}`));
  const handlers = server.tools.flatMap(tool => {
    const checked = validate(toolSchema, tool);
    if (checked.ok) return [{ ...tool, handle: forwarding(server, tool.name, redact) }];
    onWarning(`${name}: the tool ${excerpt(tool.name)} is left out: ${checked.faults.join('; ')}`);
    return [];
  });
  if (handlers.length === 0)
    throw new ProtocolCliError('no-discovery', `the MCP server "${name}" offers no usable tool`);
  const tool = await startMockTool({
    fixtures: { ...NO_FIXTURES, toolset: { name: name.slice(0, 128), tools: [], needsMigration: false } },
    handlers: [...handlers, ...referenceTools(name, server, handlers)],
    client: async () => createNodeClient(),
  });
  onStop(() => tool.close({ drainMs: 0 }));
  return tool.url;
}

/**
 * The two tools that the reference runtime offers for each MCP server; with them a tool can also be called whose name another server
 * has too. A tool whose name RAP does not allow, or that the server has itself, is left out.
 */
function referenceTools(
  name: string,
  { tools }: McpServer,
  own: readonly ToolDefinition[],
): ToolDefinition[] {
  const listed = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
  const listTools: ToolDefinition = {
    name: `${name}_list_tools`,
    description: `Lists the tools of the MCP server ${name}`,
    inputSchema: { type: 'object', properties: {} },
    annotations: { readOnly: true },
    handle: () => listed,
  };
  const invokeTool: ToolDefinition = {
    name: `${name}_invoke_tool`,
    description: `Calls a tool of the MCP server ${name}; ${name}_list_tools lists them`,
    inputSchema: {
      type: 'object',
      properties: { tool_name: { type: 'string' }, arguments: { type: 'object' } },
      required: ['tool_name'],
    },
    annotations: { destructive: own.some(({ annotations }) => annotations?.destructive === true) },
    handle(input, call) {
      const wanted = String(input.arguments['tool_name']);
      const tool = own.find(each => each.name === wanted);
      if (!tool)
        return error(
          `no tool ${excerpt(wanted)}; the tools are: ${joinFirst(
            own.map(each => each.name),
            20,
          )}`,
        );
      return tool.handle({ ...input, arguments: recordOf(input.arguments['arguments']) }, call);
    },
  };
  return [listTools, invokeTool].filter(
    tool => validate(toolSchema, tool).ok && !tools.some(each => each.name === tool.name),
  );
}

/** Forwards a call to the MCP tool; canceling the RAP call cancels the MCP call. */
function forwarding(
  server: McpServer,
  name: string,
  redact: (text: string) => string,
): ToolDefinition['handle'] {
  return async ({ arguments: args, signal }, call) => {
    try {
      server.checkCallable(name);
      const questions = new Questions(call);
      const params = { name, arguments: { ...args } };
      const answer = await server.callTool(params, { signal }, questions.elicit);
      if (questions.notShown !== null) return error(redact(questions.notShown));
      const reading = readAs('mcp', answer);
      if (!reading.ok) return error(`the MCP server sent an invalid result: ${reading.faults.join('; ')}`);
      const { body } = translate(reading, 'rap');
      if (!isRecord(body)) return error('the MCP server sent an invalid result');
      const { type: _, group_id: __, id: ___, ...rest } = body; // the ids of the invocation are added later
      return result(rest);
    } catch (cause) {
      const { message, faults } =
        cause instanceof ProtocolCliError ? cause : server.explain(cause, 'tools/call');
      return error(redact([message, ...faults].join('\n')));
    }
  };
}

/** Converts the forms of a call to questions with choices; RAP has no open fields. */
class Questions {
  /** Why a form was not shown. */
  notShown: string | null = null;

  constructor(private readonly call: HandlerCall) {}

  readonly elicit: Elicit = async params => {
    const reading = elicitationSchema.safeParse(params);
    if (!reading.success) return { action: 'cancel' };
    const form = reading.data;
    const { required = [] } = form.requestedSchema;
    const open = choiceOf(form) ? [] : required.filter(name => !Object.hasOwn(defaultsOf(form), name));
    if (open.length > 0) {
      this.notShown = `the MCP server asks "${form.message}" and needs ${open.join(', ')}: a RAP question offers only choices. Call the tool with invoke --mcp to fill in the form.`;
      return { action: 'cancel' };
    }
    const { prompt, choices, default: preset } = questionOf(form, { group: '', id: '' });
    const picked = await this.call.choice({ prompt, choices, default: preset });
    if (!picked) return { action: 'cancel' };
    const { selected: _, ...answer } = answerOf(form, picked.selected);
    return answer;
  };
}
