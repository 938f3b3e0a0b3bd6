import type * as z from 'zod/mini';
import type { SessionSwitches, SessionTool } from '../../fixtures/session-script-types.js';
import { hasBody } from '../../http/body.js';
import type { Incoming } from '../../http/route.js';
import { mediaTypeOf } from '../../util/headers.js';
import { readJson } from '../../util/json.js';
import { isRecord, valueAt } from '../../util/values.js';
import { type Detail, detail, FINISHED, Refused, wrongType } from './request-errors.js';
import { messageSchema, SCHEMAS } from './request-schemas.js';
import type { Creation, Session, UserMessage } from './session.js';
import { itemsAt, readAt, validateEach } from './validate-request.js';

/** What is wrong with the media type of a request that must be JSON; `json?` allows a request without a body, too. */
export function mediaTypeProblem({ headers }: Incoming, accepts: 'json' | 'json?'): Detail | null {
  const { 'content-type': type } = headers;
  const isBare = accepts === 'json?' && type === undefined && !hasBody({ headers });
  if (isBare || mediaTypeOf(type ?? '') === 'application/json') return null;
  return detail('content_type', ['header', 'Content-Type'], "Input should be 'application/json'", type);
}

/** Reads a header. @throws Refused */
export function readHeader<Schema extends z.ZodMiniType>(
  { headers }: Incoming,
  name: string,
  schema: Schema,
): z.output<Schema> {
  return readAt(schema, headers[name.toLowerCase()], ['header', name]);
}

/** Reads the query. @param lists the parameters that may come several times. @throws Refused */
export function readQuery<Schema extends z.ZodMiniType>(
  { target }: Incoming,
  schema: Schema,
  lists: readonly string[] = [],
): z.output<Schema> {
  const [, query = ''] = target.split(/\?(.*)/s);
  const params = new URLSearchParams(query);
  const given = Object.fromEntries(params);
  const repeated = lists.filter(name => params.has(name)).map(name => [name, params.getAll(name)]);
  return readAt(schema, { ...given, ...Object.fromEntries(repeated) }, ['query']);
}

/** Reads a body that a schema describes. @throws Refused */
export function readBody<Schema extends z.ZodMiniType>(body: Uint8Array, schema: Schema): z.output<Schema> {
  return readAt(schema, readObject(body).value, ['body']);
}

/** Reads a body that is a JSON object. @throws Refused */
export function readObject(body: Uint8Array): {
  readonly value: Readonly<Record<string, unknown>>;
  readonly notes: readonly string[];
} {
  const json = readJson(body);
  if (!json.ok)
    throw new Refused(422, [detail('json_invalid', ['body'], `JSON decode error: ${json.reason}`, {})]);
  const { value, notes } = json;
  if (!isRecord(value)) throw new Refused(422, [wrongType('object', ['body'], value)]);
  return { value, notes };
}

/** Reads a request to create a session. Tools in `overrides` replace the agent's own. @throws Refused */
export function readCreation(
  { headers }: Incoming,
  body: Uint8Array,
  requests: SessionSwitches['requests'],
): Creation {
  if (body.length === 0 && headers['content-type'] === undefined && requests === 'lenient') return {};
  const { value: request } = readObject(body);
  const schemas = SCHEMAS[requests];
  readAt(schemas.creation, request, ['body']);
  // as they were sent: the schema's copy would lose a key named `__proto__` (threats, row 19)
  const toolsAt = (...path: string[]) => {
    const tools = valueAt(request, ...path);
    if (tools === null || tools === undefined) return undefined;
    if (!Array.isArray(tools)) throw new Refused(422, [wrongType('array', ['body', ...path], tools)]);
    validateEach(schemas.tool, itemsAt(['body', ...path], tools));
    return tools as readonly SessionTool[];
  };
  const agentTools = toolsAt('agent', 'tools');
  const tools = toolsAt('overrides', 'agent.tools') ?? agentTools;
  return { tools, request, messages: readFirstMessages(request['messages']), size: body.length };
}

/** Reads the initial task: a text, a message, or a list of messages. */
function readFirstMessages(messages: unknown): readonly UserMessage[] {
  if (messages === null || messages === undefined) return [];
  if (typeof messages === 'string') return [{ message: messages }];
  const sent = Array.isArray(messages)
    ? itemsAt(['body', 'messages'], messages)
    : [{ value: messages, loc: ['body', 'messages'] }];
  validateEach(messageSchema, sent);
  return sent.map(({ value }) => value as UserMessage);
}

/** Reads one message to a session, or a batch of them. @throws Refused */
export function readMessages(body: Uint8Array, { isOver, script }: Session): readonly UserMessage[] {
  const { value } = readObject(body);
  const { messages: batchSchema } = SCHEMAS[script.switches.requests];
  const isBatch =
    value['type'] === 'batch' || (value['type'] === undefined && value['messages'] !== undefined);
  const sent = isBatch
    ? itemsAt(['body', 'messages'], readAt(batchSchema, value, ['body']).messages)
    : [{ value, loc: ['body'] }];
  validateEach(messageSchema, sent);
  if (isOver) throw new Refused(409, FINISHED);
  return sent.map(each => each.value as UserMessage);
}
