import { once } from 'node:events';
import { request } from 'node:http';
import { gzipSync } from 'node:zlib';
import { Journal, ownOrigin, sendJson } from '../kit.mjs';
import { acknowledgements, conversations, displays, messages } from './operations.mjs';

/** One invocation, and the means to answer it well or badly. */
export class Call {
  #journal;

  constructor(invocation, { attempt, origin, response, journal }) {
    this.invocation = invocation;
    this.attempt = attempt;
    this.origin = origin;
    this.response = response;
    this.#journal = journal;
  }

  acknowledge(status = 200, headers = {}, body = '') {
    this.response.writeHead(status, headers).end(body);
  }

  /** The result that a good tool would send, changed by `fields`. */
  reply(fields = {}) {
    const { operation, group_id, id, call_id } = this.invocation;
    return { type: 'tool_result', group_id, id, call_id, text: `${operation} done`, ...fields };
  }

  /** Posts an object as JSON, or bytes as they are; never tries again. */
  async deliver(message, { url = this.invocation.callback_url, headers = {} } = {}) {
    const body = Buffer.isBuffer(message) ? message : Buffer.from(JSON.stringify(message));
    const sent = { 'content-type': 'application/json', 'content-length': body.length, ...headers };
    const entry = this.#journal.add('delivery', { url, headers: sent, raw: body.toString() });
    try {
      entry.status = await post(url, sent, body);
    } catch (error) {
      entry.error = error.code ?? error.message;
    }
  }
}

async function post(url, headers, body) {
  const outgoing = request(url, { method: 'POST', headers, agent: false });
  outgoing.end(body);
  const [answer] = await once(outgoing, 'response');
  answer.resume();
  // The status is known; what breaks after it is of no interest.
  outgoing.on('error', () => {});
  return answer.statusCode;
}

/** Per value of TOOLSET: one more tool with a peculiar input schema. */
const peculiarTools = {
  evil_pattern: {
    evil: {
      type: 'object',
      properties: { s: { type: 'string', pattern: '^(a|a)*$' } },
      required: ['s'],
    },
  },
  hidden_draft: {
    hidden: {
      $schema: 'https://example.com/schemas/hidden-draft',
      type: 'object',
    },
  },
};

const peculiarNames = Object.values(peculiarTools).flatMap(Object.keys);

const LATE_SCHEMA = {
  type: 'object',
  properties: { ms: { type: 'integer', minimum: 0 } },
  required: ['ms'],
  additionalProperties: false,
};
const operations = { ...acknowledgements, ...conversations, ...messages, ...displays };
const tools = Object.keys(operations).map(name => tool(name, name === 'late_ms' ? LATE_SCHEMA : undefined));

const INVALID = {
  name: '',
  endpoint: 'not a url',
  tools: [tool('twin'), tool('twin'), tool('bad name'), tool('wurst', { type: 'wurst' })],
};

/** One entry per value of TOOLSET that is not simply one more tool. */
const answers = {
  missing: (_, response) => response.writeHead(404).end(),
  invalid: (_, response) => send(response, JSON.stringify(INVALID)),
  notjson: (_, response) => send(response, '{"name": "odd-tool", "tools": ['),
  html: (_, response) =>
    send(response, '<!doctype html><title>Welcome</title>', { 'content-type': 'text/html' }),
  gzip: (origin, response) =>
    send(response, gzipSync(JSON.stringify(toolset(`${origin}/invoke`))), { 'content-encoding': 'gzip' }),
  redirect: (_, response) => response.writeHead(302, { location: '/elsewhere' }).end(),
  elsewhere: (_, response, endpoint) => send(response, JSON.stringify(toolset(endpoint))),
  origin_only: (origin, response) => send(response, JSON.stringify(toolset(`${origin}/tools/x/invoke`))),
};

function answerDiscovery(variant, origin, response, endpoint) {
  if (Object.hasOwn(answers, variant)) return answers[variant](origin, response, endpoint);
  send(response, JSON.stringify(toolset(`${origin}/invoke`, peculiarTools[variant])));
}

function isVariant(name) {
  return Object.hasOwn(answers, name) || Object.hasOwn(peculiarTools, name);
}

function send(response, body, headers = {}) {
  response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(body);
}

function toolset(endpoint, peculiar = {}) {
  const more = Object.entries(peculiar).map(([name, inputSchema]) => tool(name, inputSchema));
  return { name: 'odd-tool', endpoint, tools: [...tools, ...more] };
}

function tool(name, inputSchema = { type: 'object', additionalProperties: false }) {
  return { name, description: `Oddity: ${name.replaceAll('_', ' ')}.`, inputSchema };
}

const RECEIVED = {
  '/invoke': 'invocation',
  '/tools/x/invoke': 'invocation',
  '/close_thread': 'close_thread',
  '/tools/x/close_thread': 'close_thread',
  '/cancel_tool_call': 'cancel_tool_call',
  '/tools/x/cancel_tool_call': 'cancel_tool_call',
  '/elsewhere': 'redirected',
};

/** Answers as the tool does, see ../README.md. */
export function oddTool({ TOOLSET, ENDPOINT }) {
  if (TOOLSET && !isVariant(TOOLSET)) throw new Error(`TOOLSET=${TOOLSET} is not known`);

  const journal = new Journal();
  const attempts = new Map();

  const handle = async (request, response) => {
    if (request.url === '/__log') return sendJson(response, journal.entries);
    if (request.url.endsWith('/.well-known/rap-toolset')) return discover(request, response);
    const what = RECEIVED[request.url];
    if (!what) return response.writeHead(404).end();
    const { body } = await journal.receive(what, request);
    if (what === 'invocation' && body?.callback_url) await perform(body, ownOrigin(request), response);
    else response.writeHead(200, { 'content-length': 0 }).end();
  };
  return Object.assign(handle, { entries: journal.entries });

  async function discover(request, response) {
    await journal.receive('discovery', request);
    const isAtOrigin = request.url === '/.well-known/rap-toolset';
    answerDiscovery(isAtOrigin ? TOOLSET : 'missing', ownOrigin(request), response, ENDPOINT);
  }

  async function perform(invocation, origin, response) {
    const { id, operation } = invocation;
    const attempt = (attempts.get(id) ?? 0) + 1;
    attempts.set(id, attempt);
    const call = new Call(invocation, { attempt, origin, response, journal });
    const acknowledge = own(acknowledgements, operation);
    if (acknowledge) return acknowledge(call);
    call.acknowledge();
    await answer(call, operation);
  }
}

function answer(call, operation) {
  const deliver = own(conversations, operation);
  if (deliver) return deliver(call);
  const message = own(messages, operation);
  if (message) return call.deliver(message(call.reply()));
  const display_as = own(displays, operation);
  if (display_as) return call.deliver(call.reply({ display_as }));
  if (peculiarNames.includes(operation)) return call.deliver(call.reply());
  return call.deliver(call.reply({ text: `Error: unknown operation "${operation}". See the toolset.` }));
}

/** Operations are foreign names: `constructor` must not be found. */
function own(table, name) {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
