import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import {
  CallToolResultSchema,
  ElicitRequestSchema,
  LoggingMessageNotificationSchema,
  McpError,
  ProgressNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';

// A server and a client on version 1 of MCP's TypeScript SDK: `sdk-v1.mjs stdio | http | client <calls> <url | program argument…>`.

const print = value => process.stdout.write(`${JSON.stringify(value)}\n`);
const text = value => ({ content: [{ type: 'text', text: value }] });

function newServer() {
  const peer = new McpServer({ name: 'sdk-v1-peer', version: '1' });
  const numbers = { a: z.number(), b: z.number() };
  peer.registerTool('greet', { inputSchema: { name: z.string() } }, ({ name }) => text(`Hello, ${name}`));
  peer.registerTool('sum', { inputSchema: numbers, outputSchema: { sum: z.number() } }, ({ a, b }) => ({
    ...text(JSON.stringify({ sum: a + b })),
    structuredContent: { sum: a + b },
  }));
  peer.registerTool('fail', {}, () => {
    throw new Error('disk full');
  });
  peer.registerTool('ask', {}, async () => {
    const requestedSchema = { type: 'object', properties: { colour: { type: 'string' } } };
    const { action, content } = await peer.server.elicitInput({ message: 'Which colour?', requestedSchema });
    return text(`${action}: ${content?.colour}`);
  });
  return peer;
}

/** A server for each session, as in the SDK's examples. */
function serveHttp() {
  const sessions = new Map();
  const newSession = async () => {
    const onsessioninitialized = id => sessions.set(id, transport);
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized,
    });
    await newServer().connect(transport);
    return transport;
  };
  const server = createServer(async (request, response) => {
    const transport = sessions.get(request.headers['mcp-session-id']) ?? (await newSession());
    await transport.handleRequest(request, response);
  });
  server.listen(0, '127.0.0.1', () => print({ port: server.address().port }));
}

function failure(error) {
  if (!(error instanceof McpError)) return { raised: error.message };
  return { code: error.code, data: error.data };
}

async function call(client, params) {
  try {
    const result = await client.callTool(params, CallToolResultSchema, { onprogress: () => {} });
    const { content, structuredContent, isError } = result;
    const texts = content.filter(({ type }) => type === 'text').map(block => block.text);
    return { text: texts.join(''), structured: structuredContent ?? null, isError: isError ?? false };
  } catch (error) {
    return failure(error);
  }
}

async function runClient(calls, first, ...rest) {
  const transport = first.startsWith('http')
    ? new StreamableHTTPClientTransport(new URL(first))
    : new StdioClientTransport({ command: first, args: rest });
  const client = new Client(
    { name: 'sdk-v1-client', version: '1' },
    { capabilities: { elicitation: { form: {} } } },
  );
  const notified = [];
  // For `onprogress`, the SDK forgets what comes in one piece with the result.
  client.setNotificationHandler(
    ProgressNotificationSchema,
    ({ params: { progress, total, message } }) =>
      void notified.push(`progress ${progress} of ${total}: ${message}`),
  );
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params: { level, data } }) => {
    notified.push(`${level}: ${data}`);
  });
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { colour: 'red' } }));
  await client.connect(transport);
  const { tools } = await client.listTools();
  const answers = {};
  for (const [name, args] of Object.entries(JSON.parse(calls)))
    answers[name] = await call(client, { name, arguments: args });
  const unknown = await client.listResources().then(() => null, failure);
  const version = transport.protocolVersion ?? null;
  print({ version, tools: tools.map(({ name }) => name), calls: answers, notified, unknown });
  await client.close();
}

const [mode, ...words] = process.argv.slice(2);
if (mode === 'stdio') await newServer().connect(new StdioServerTransport());
else if (mode === 'http') serveHttp();
else await runClient(...words);
