import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';

/*
 * Behaves as the reference runtime's own tools do: null for what is optional, `OK` as the body of every answer, a diff view of files.
 * NOTICES=ok answers notices so; =missing has no routes for them; =dies ends the process at a close_thread.
 * WORKS=no acknowledges every call and never calls back.
 */
const { NOTICES = 'ok', WORKS = 'yes' } = process.env;

const TOOL = {
  name: 'read_file',
  description: 'Reads a file',
  inputSchema: {
    $schema: 'http://json-schema.org/draft-04/schema#',
    type: 'object',
    properties: { line: { type: 'integer', minimum: 0, exclusiveMinimum: true } },
    required: ['line'],
  },
  annotations: { readOnly: true, destructive: null, requiresAuth: null },
  displayScript: null,
};

const server = createServer(async (request, response) => {
  const body = await text(request);
  if (request.method === 'GET') return discover(request, response);
  if (request.url !== '/invoke') return notice(request.url, response);
  response.end('OK');
  if (WORKS === 'yes') await answer(parsed(body));
});

function discover({ headers }, response) {
  const endpoint = `http://${headers.host}/invoke`;
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ name: 'reference', description: null, endpoint, tools: [TOOL] }));
}

function notice(url, response) {
  if (NOTICES === 'missing') return response.writeHead(404).end();
  if (NOTICES === 'dies' && url === '/close_thread') process.exit(101);
  response.end('OK');
}

async function answer(invocation) {
  const { callback_url, group_id, id, call_id = null } = invocation ?? {};
  if (typeof callback_url !== 'string') return;
  const fault = faultOf(invocation);
  const files = [{ path: 'a.txt', status: 'added', oldContents: null, newContents: 'line\n' }];
  if (!fault)
    await send(callback_url, { type: 'view_update', group_id, view_type: 'diff', content: { files } });
  const said = fault ? `Error: ${fault}. Use read_file with a line above 0.` : 'line 1';
  await send(callback_url, {
    type: 'tool_result',
    ...{ group_id, id, call_id, text: said, content: [], display_as: null, subscription: null },
  });
}

function faultOf({ operation, arguments: args }) {
  if (operation !== TOOL.name) return 'there is no such operation';
  return Number.isInteger(args?.line) && args.line > 0 ? null : 'line must be an integer above 0';
}

async function send(url, message) {
  const headers = { 'content-type': 'application/json' };
  for (const wait of [100, 300, 900, 0]) {
    const status = await fetch(url, { method: 'POST', headers, body: JSON.stringify(message) }).then(
      answered => answered.status,
      () => 0,
    );
    if (status > 0 && status < 500) return;
    await pause(wait);
  }
}

function parsed(body) {
  try {
    return JSON.parse(body);
  } catch {
    return null;
  }
}

server.listen(0, '127.0.0.1', () =>
  process.stdout.write(`${JSON.stringify({ port: server.address().port })}\n`),
);
