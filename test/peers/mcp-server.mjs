// An MCP server in plain Node, by the protocol's text and without any SDK: newline-delimited JSON-RPC over stdio, or Streamable
// HTTP where a port is given (`--http 0`, which prints {"port":N}). Its tools are odd on purpose. What it is reported is written to the
// file of `--log`, a line of JSON each.
import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';

const options = process.argv.slice(2);
const optionOf = name => (options.includes(name) ? options[options.indexOf(name) + 1] : undefined);
const log = line => optionOf('--log') && appendFileSync(optionOf('--log'), `${JSON.stringify(line)}\n`);

// '7n' is written as the number 7, with all its digits.
const jsonOf = message => JSON.stringify(message).replace(/"(\d+)n"/g, '$1');

const text = (value, more = {}) => ({ content: [{ type: 'text', text: value, ...more }] });
const EXACT = { content: [], structuredContent: { n: '9007199254740993n' }, isError: false };
const EMPTY = { type: 'object', properties: {} };

const TOOLS = {
  echo: {
    inputSchema: {
      type: 'object',
      properties: { text: { type: 'string' }, times: { type: 'integer' } },
      required: ['text'],
    },
    call: ({ text: given, times = 1 }) => ({ ...text(given.repeat(times)), isError: false }),
  },
  fails: { call: () => ({ ...text('the disk is full'), isError: true }) },
  silent: { call: () => text('nothing is said of errors') },
  structured: {
    call: () => ({ content: [], structuredContent: { count: 2, names: ['a', 'b'] }, isError: false }),
  },
  'breaks-schema': {
    outputSchema: { type: 'object', properties: { count: { type: 'integer' } }, required: ['count'] },
    call: () => ({ ...text('two'), structuredContent: { count: 'two' }, isError: false }),
  },
  'misses-schema': { outputSchema: { type: 'object' }, call: () => ({ ...text('two'), isError: false }) },
  mixed: {
    call: () => ({
      content: [
        { type: 'text', text: 'for both' },
        { type: 'text', text: 'for the human', annotations: { audience: ['user'] } },
        { type: 'text', text: 'for the model', annotations: { audience: ['assistant'] } },
        { type: 'image', data: 'AAAA', mimeType: 'image/png' },
        { type: 'hologram', beam: 7 },
      ],
      isError: false,
    }),
  },
  exact: { call: () => EXACT },
  'exact-event': { call: () => EXACT },
  hostile: { call: () => ({ ...text('\u001b]0;owned\u0007\u202Etxt'), isError: false }) },
  'null-meta': { call: () => ({ ...text('done'), isError: false, _meta: null }) },
  'list-meta': { call: () => ({ ...text('done'), isError: false, _meta: [] }) },
  'text-result': { call: () => ({ bare: 'done' }) },
  'list-result': { call: () => ({ bare: ['done'] }) },
  'no-result': { call: () => ({ content: 'not a list' }) },
  refuses: {
    outputSchema: { type: 'object' },
    call: () => ({ refusal: { code: -32001, message: 'not today', data: { until: 'tomorrow' } } }),
  },
  'needs-url': {
    call: () => ({
      refusal: {
        code: -32042,
        message: 'sign in first',
        data: {
          elicitations: [
            { mode: 'url', elicitationId: 'a', url: 'https://login.example/a', message: 'Sign in' },
          ],
        },
      },
    }),
  },
  // Over stdio only: it asks before it answers.
  'asks-url': {
    call: () => ({
      ask: { mode: 'url', elicitationId: 'a', url: 'https://login.example/a', message: 'Sign in' },
    }),
  },
  'needs-task': {
    call: () => ({
      refusal: {
        code: -32021,
        message: 'missing capability',
        data: { requiredCapabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } } },
      },
    }),
  },
  erase: { annotations: { destructiveHint: true }, call: () => ({ ...text('erased'), isError: false }) },
  harmless: {
    annotations: { destructiveHint: true, readOnlyHint: true },
    call: () => ({ ...text('read'), isError: false }),
  },
  slow: { call: () => null },
  dies: {
    call: () => {
      process.stderr.write('the peer falls over\n');
      setTimeout(() => process.exit(3), 20);
      return null;
    },
  },
  resets: { call: () => null },
  chatter: {
    call: () => {
      process.stdout.write('debug: this is not JSON-RPC\n\n');
      return { ...text('after the chatter'), isError: false };
    },
  },
};

const toolList = () =>
  Object.entries(TOOLS).map(([name, { inputSchema = EMPTY, outputSchema, annotations }]) => ({
    name,
    inputSchema,
    outputSchema,
    annotations,
  }));

function listPage(cursor) {
  if (options.includes('--endless'))
    return { tools: [{ name: `tool-${cursor ?? 'first'}`, inputSchema: EMPTY }], nextCursor: 'again' };
  if (options.includes('--broken-tool')) return { tools: [{ name: 'bad' }, ...toolList()] };
  const many = Number(optionOf('--many') ?? 0);
  const page = Number(cursor ?? 0);
  if (page >= many) return { tools: toolList() };
  const tools = Array.from({ length: 100 }, (_, index) => ({
    name: `filler-${page}-${index}`,
    inputSchema: EMPTY,
  }));
  return { tools, nextCursor: String(page + 1) };
}

const answer = (id, result) => ({
  jsonrpc: '2.0',
  id,
  ...(result.refusal ? { error: result.refusal } : { result: result.bare ?? result }),
});

/**
 * With `--older`, only 2025-11-25 is spoken, but `server/discover` is answered, as the HTTP server of the Go SDK does; with `--blunt`
 * it is refused, too. Undefined where a message is of that version.
 */
function versionRefusal({ id, method, params }) {
  const isNewer = params?._meta?.['io.modelcontextprotocol/protocolVersion'] !== undefined;
  if (!options.includes('--older') || !isNewer) return undefined;
  const supported = [optionOf('--older')];
  if (method === 'server/discover' && !options.includes('--blunt'))
    return answer(id, { supportedVersions: supported, capabilities: { tools: {} }, resultType: 'complete' });
  return answer(id, {
    refusal: { code: -32022, message: 'Unsupported protocol version', data: { supported } },
  });
}

/** The call that waits for the answer to the question 'ask'. */
let asking;

/** The answer to a message; null where none goes out. */
function reply(message) {
  log(message);
  const { id, method, params } = message;
  if (id === undefined) return null;
  if (id === 'ask') return answer(asking, text(JSON.stringify(message.error ?? message.result)));
  const refusal = versionRefusal(message);
  if (refusal) return refusal;
  switch (method) {
    case 'initialize':
      if (options.includes('--mute')) return null;
      return answer(id, {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'plain-peer', version: '1' },
      });
    case 'tools/list':
      return answer(id, listPage(params?.cursor));
    case 'tools/call': {
      const result = (TOOLS[params.name] ?? TOOLS.silent).call(params.arguments ?? {});
      if (result?.ask) {
        asking = id;
        return { jsonrpc: '2.0', id: 'ask', method: 'elicitation/create', params: result.ask };
      }
      return result && answer(id, result);
    }
    default:
      return answer(id, { refusal: { code: -32601, message: 'Method not found' } });
  }
}

function serveStdio() {
  if (options.includes('--crash')) {
    process.stderr.write('Error: no configuration\n');
    process.exit(9);
  }
  if (options.includes('--banner')) process.stdout.write('Plain peer, ready to serve!\n');
  if (options.includes('--stubborn')) process.on('SIGTERM', () => {});
  const stay = setInterval(() => {}, 1_000); // the end of stdin alone does not end it where it is stubborn
  log({ pid: process.pid });
  createInterface({ input: process.stdin })
    .on('line', line => {
      const message = reply(JSON.parse(line));
      if (message) process.stdout.write(`${jsonOf(message)}\n`);
    })
    .on('close', () => options.includes('--stubborn') || clearInterval(stay));
}

async function bodyOf(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

/** What goes wrong before a message is looked at; undefined where nothing does. */
function refusalOf({ url, method, headers }) {
  const isLocked = options.includes('--locked') && headers.authorization !== 'Bearer open-sesame';
  if (url === '/elsewhere') return [307, { location: 'http://127.0.0.1:9/mcp' }];
  if (url !== '/mcp') return [404, {}];
  if (isLocked) return [401, {}];
  return method === 'POST' ? undefined : [405, {}];
}

/** A stream that ends before the answer came. */
function hangUp(response) {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': and that was all\n\n');
  setTimeout(() => response.end(), 20);
}

/** Tools that get no answer over HTTP. */
const BREAKS = {
  dies: hangUp,
  resets: response => response.socket.destroy(),
  chatter: response => response.writeHead(500).end('boom'),
};

function serveHttp(port) {
  const server = createServer(async (request, response) => {
    const body = await bodyOf(request);
    log({ http: request.method, headers: request.headers });
    const refusal = refusalOf(request);
    if (refusal) return void response.writeHead(...refusal).end('not like this');
    const message = JSON.parse(body);
    const tool = message.method === 'tools/call' ? message.params.name : '';
    const breakOff = BREAKS[tool];
    if (breakOff) return void breakOff(response);
    const answered = reply(message);
    if (message.id === undefined) response.writeHead(202).end();
    else if (tool === 'exact-event')
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`data: ${jsonOf(answered)}\n\n`);
    else if (answered) response.writeHead(200, { 'content-type': 'application/json' }).end(jsonOf(answered));
  });
  server.listen(port, '127.0.0.1', () =>
    process.stdout.write(`${JSON.stringify({ port: server.address().port })}\n`),
  );
}

if (optionOf('--http') === undefined) serveStdio();
else serveHttp(Number(optionOf('--http')));
