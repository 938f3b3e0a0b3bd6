import { gzipSync } from 'node:zlib';
import { acknowledgements } from './acknowledgements.mjs';
import { deliveries } from './deliveries.mjs';
import { displays } from './displays.mjs';
import { events } from './events.mjs';
import { messages } from './messages.mjs';
import { questions } from './questions.mjs';
import { peculiarTools } from './schemas.mjs';

const LATE_SCHEMA = {
  type: 'object',
  properties: { ms: { type: 'integer', minimum: 0 } },
  required: ['ms'],
  additionalProperties: false,
};
const operations = {
  ...acknowledgements,
  ...deliveries,
  ...questions,
  ...events,
  ...messages,
  ...displays,
};
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

export function answerDiscovery(variant, origin, response, endpoint) {
  if (Object.hasOwn(answers, variant)) return answers[variant](origin, response, endpoint);
  send(response, JSON.stringify(toolset(`${origin}/invoke`, peculiarTools[variant])));
}

export function isVariant(name) {
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
