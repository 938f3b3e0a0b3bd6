// An MCP server made with the official SDK of protocol version 2026-07-28. By default it speaks only that version; `--both` serves older
// clients too. It talks over stdio, or over Streamable HTTP with `--http`, which prints {"port":N}; there `--refuses-first` refuses the
// version of the first request, and names the same one as supported, `--ignores-first` never answers the
// first request, and `--untyped` leaves `resultType` out of all results.
import { createServer } from 'node:http';
import { createMcpHandler, inputRequired, Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const speaksBoth = process.argv.includes('--both');
let refusesNext = process.argv.includes('--refuses-first');
let ignoresNext = process.argv.includes('--ignores-first');
const isUntyped = process.argv.includes('--untyped');
const isAnnotated = process.argv.includes('--annotated');
const text = value => ({ content: [{ type: 'text', text: value }] });
const EMPTY = { type: 'object', properties: {} };

const FORM = {
  type: 'object',
  properties: {
    name: { type: 'string', title: 'Your name', minLength: 2 },
    age: { type: 'integer', minimum: 0 },
    subscribe: { type: 'boolean', default: true },
    colour: { type: 'string', enum: ['red', 'green'], default: 'green' },
  },
  required: ['name'],
};
const PICK = {
  type: 'object',
  properties: {
    size: {
      type: 'string',
      oneOf: [
        { const: 's', title: 'Small' },
        { const: 'l', title: 'Large' },
      ],
      default: 's',
    },
  },
  required: ['size'],
};

/** Asks first; answers with what came. */
function asking(message, requestedSchema) {
  return (_, { mcpReq }) => {
    const answer = mcpReq.inputResponses?.answer;
    if (answer) return text(JSON.stringify(answer));
    return inputRequired({ inputRequests: { answer: inputRequired.elicit({ message, requestedSchema }) } });
  };
}

/** Tools with arguments that are sent as headers too; the annotation of the second one is invalid. */
const ANNOTATED = {
  regional: {
    inputSchema: {
      type: 'object',
      properties: {
        region: { type: 'string', 'x-mcp-header': 'Region' },
        place: { type: 'object', properties: { floor: { type: 'integer', 'x-mcp-header': 'Floor' } } },
      },
    },
    call: (_, { http }) =>
      text(
        JSON.stringify(
          [...(http?.req?.headers ?? [])].filter(([name]) => name.startsWith('mcp-param-')).sort(),
        ),
      ),
  },
  unreachable: {
    inputSchema: { type: 'object', properties: { n: { type: 'number', 'x-mcp-header': 'N' } } },
    call: () => text('called'),
  },
};

const TOOLS = {
  echo: {
    inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    call: args => text(args.text),
  },
  form: { call: asking('Who are you?', FORM) },
  pick: { call: asking('Which size?', PICK) },
  'asks-itself': {
    call: async (_, { mcpReq }) =>
      text(
        (await mcpReq.elicitInput({ mode: 'form', message: 'Who are you?', requestedSchema: FORM })).action,
      ),
  },
  steps: {
    call: async (_, { mcpReq }) => {
      const progressToken = mcpReq._meta?.progressToken;
      for (const progress of [1, 2])
        await mcpReq.notify({
          method: 'notifications/progress',
          params: { progressToken, progress, total: 2, message: `step ${progress}` },
        });
      return text('done');
    },
  },
  sample: {
    call: () =>
      inputRequired({
        inputRequests: { answer: inputRequired.createMessage({ messages: [], maxTokens: 1 }) },
      }),
  },
  ...(isAnnotated && ANNOTATED),
};

function factory() {
  const server = new Server({ name: 'sdk-peer', version: '1' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', () => ({
    tools: Object.entries(TOOLS).map(([name, { inputSchema = EMPTY }]) => ({ name, inputSchema })),
  }));
  server.setRequestHandler('tools/call', ({ params }, context) =>
    TOOLS[params.name].call(params.arguments ?? {}, context),
  );
  return server;
}

function serveHttp() {
  const handler = createMcpHandler(factory, { legacy: speaksBoth ? 'stateless' : 'reject' });
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    if (ignoresNext) {
      ignoresNext = false;
      return;
    }
    if (refusesNext) {
      refusesNext = false;
      const error = { code: -32022, message: 'not now', data: { supported: ['2026-07-28'] } };
      const { id } = JSON.parse(Buffer.concat(chunks));
      return response
        .writeHead(400, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id, error }));
    }
    const hasBody = request.method === 'POST';
    const answer = await handler.fetch(
      new Request(`http://${request.headers.host}${request.url}`, {
        method: request.method,
        headers: Object.entries(request.headers),
        ...(hasBody && { body: Buffer.concat(chunks) }),
      }),
    );
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    const body = await answer.text();
    response.end(
      isUntyped ? body.replaceAll(/"resultType":"complete",|,"resultType":"complete"/g, '') : body,
    );
  });
  server.listen(0, '127.0.0.1', () =>
    process.stdout.write(`${JSON.stringify({ port: server.address().port })}\n`),
  );
}

if (process.argv.includes('--http')) serveHttp();
else serveStdio(factory, { legacy: speaksBoth ? 'serve' : 'reject' });
