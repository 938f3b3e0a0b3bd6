import { once } from 'node:events';
import { Agent } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * What HTTP, JSON and the protocol allow, and right tools do. `answer` writes an answer, `document` and `written` the JSON of a toolset and
 * a callback, `described` and `message` their members; `post` sends a callback. `disturbs`: the rules whose probes it could disturb.
 */
const ANSWERS = ['TOOL-DISCOVER', 'TOOL-ACK', 'TOOL-ASYNC', 'TOOL-ALWAYS', 'TOOL-CANCEL', 'TOOL-CLOSE'];
const DOCUMENT = ['TOOL-DISCOVER', 'TOOL-NAMES', 'TOOL-ASYNC'];
const CALLBACKS = ['TOOL-ALWAYS', 'TOOL-POST', 'TOOL-ID', 'TOOL-CALLID', 'TOOL-GROUP', 'TOOL-OPAQUE'];
const RESULTS = ['TOOL-POST', 'TOOL-FALLBACK', 'TOOL-DIFF', 'TOOL-ERRPREFIX'];

const answering = answer => ({ disturbs: ANSWERS, answer });
const documented = more => ({ disturbs: DOCUMENT, ...more });
const delivering = more => ({ disturbs: CALLBACKS, ...more });

export const LEGAL = {
  'other-status-text': answering((response, { status, headers, text }) =>
    response.writeHead(status, 'Accepted and queued', headers).end(text),
  ),
  'no-status-text': answering((response, { status, headers, text }) =>
    raw(response, `HTTP/1.1 ${status} `, [...linesOf(headers), `Content-Length: ${sizeOf(text)}`], text),
  ),
  'upper-case-headers': answering((response, { status, headers, text }) =>
    raw(
      response,
      `HTTP/1.1 ${status} OK`,
      [...linesOf(headers), `content-length: ${sizeOf(text)}`].map(upperCaseName),
      text,
    ),
  ),
  'spaces-in-headers': answering((response, { status, headers, text }) =>
    raw(
      response,
      `HTTP/1.1 ${status} OK`,
      [...linesOf(headers), `Content-Length:   ${sizeOf(text)}  `, 'X-Empty:', 'X-Tab:\tx\t'],
      text,
    ),
  ),
  'http-1.0-answers': answering((response, { status, headers, text }) =>
    raw(response, `HTTP/1.0 ${status} OK`, linesOf(headers), text),
  ),
  'chunked-answers': answering((response, { status, headers, text }) =>
    response.writeHead(status, { ...headers, 'transfer-encoding': 'chunked' }).end(text),
  ),
  'small-chunks-and-trailers': answering((response, { status, headers, text }) =>
    raw(
      response,
      `HTTP/1.1 ${status} OK`,
      [...linesOf(headers), 'Transfer-Encoding: chunked', 'Trailer: X-Sum'],
      `${(text.match(/.{1,9}/gs) ?? []).map(piece => `${sizeOf(piece).toString(16).toUpperCase()};x=1\r\n${piece}\r\n`).join('')}0\r\nX-Sum: 1\r\n\r\n`,
    ),
  ),
  'announces-close': answering((response, { status, headers, text }) =>
    response.writeHead(status, { ...headers, connection: 'close' }).end(text),
  ),
  'closes-silently': answering((response, { status, headers, text }) => {
    const { socket } = response;
    response.writeHead(status, headers).end(text, () => socket.end());
  }),
  'resets-after-answer': answering((response, { status, headers, text }) => {
    const { socket } = response;
    response.once('finish', () => setTimeout(() => socket.destroy(), 20));
    response.writeHead(status, { ...headers, 'keep-alive': 'timeout=1' }).end(text);
  }),
  'repeats-headers': answering((response, { status, headers, text }) =>
    response
      .writeHead(status, {
        ...headers,
        'set-cookie': ['a=1; HttpOnly', 'b=2'],
        vary: ['Accept', 'Origin'],
        'x-trace': ['1', '2'],
      })
      .end(text),
  ),
  'many-headers': answering((response, { status, headers, text }) => {
    for (let index = 0; index < 60; index++) response.setHeader(`x-policy-${index}`, 'v'.repeat(100));
    response.writeHead(status, { ...headers, server: 'nginx/1.27 (Ubuntu) mod_all/9' }).end(text);
  }),
  'no-date': answering((response, { status, headers, text }) => {
    response.sendDate = false;
    response.writeHead(status, headers).end(text);
  }),
  'interim-answers': answering((response, { status, headers, text }) => {
    response.writeProcessing();
    response.writeEarlyHints({ link: '</style.css>; rel=preload' });
    response.writeHead(status, headers).end(text);
  }),
  'typed-acknowledgements': answering((response, { status, headers, text }) =>
    response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', ...headers }).end(text),
  ),
  'slow-pieces': answering(async (response, { status, headers, text }) => {
    response.writeHead(status, { ...headers, 'content-length': sizeOf(text) }).flushHeaders();
    await sleep(30);
    response.end(text);
  }),
  'answers-before-reading': { disturbs: ANSWERS, isEarly: true },
  'slow-first-request': { disturbs: ANSWERS, firstRequestMs: 700 },
  'slow-first-call': { disturbs: ANSWERS, firstCallMs: 400 },
  'refuses-large-bodies': { disturbs: [...ANSWERS, 'TOOL-MALFORMED'], maxBody: 50_000 },

  'type-with-charset': documented({ documentType: 'application/json; charset=UTF-8' }),
  'upper-case-type': documented({ documentType: 'APPLICATION/JSON;CHARSET="utf-8"' }),
  'type-of-vendor': documented({ documentType: 'application/vnd.acme.toolset+json' }),
  'padded-document': documented({ document: value => `\r\n\t ${JSON.stringify(value, null, '\t')}\r\n\n ` }),
  'escaped-document': documented({
    document: value =>
      JSON.stringify(value).replaceAll('"echo"', '"\\u0065c\\u0068o"').replaceAll('/', '\\/'),
  }),
  'reversed-document': documented({ described: reversed }),
  'more-in-document': documented({
    described: ({ tools, ...others }) => ({
      ...others,
      version: '1.2.3',
      'x-acme': { team: [1, null] },
      tools: tools.map(tool => ({
        ...tool,
        title: 'Echo',
        outputSchema: { type: 'string' },
        annotations: { ...tool.annotations, 'x-acme-cost': 1, title: 'Echo' },
      })),
    }),
  }),
  'endpoint-with-query': documented({
    described: ({ endpoint, ...others }) => ({
      ...others,
      endpoint: `${endpoint.replace('http://127.0.0.1', 'HTTP://LOCALHOST')}?version=1&x=%2f`,
    }),
  }),
  'draft-07-schema': documented({
    described: ({ tools, ...others }) => ({
      ...others,
      tools: tools.map(({ inputSchema, ...tool }) => ({
        ...tool,
        inputSchema: { $schema: 'http://json-schema.org/draft-07/schema#', $id: 'echo', ...inputSchema },
      })),
    }),
  }),

  'null-call-id': delivering({
    message: ({ call_id, ...others }) => ({ ...others, call_id: call_id ?? null }),
  }),
  'reversed-callbacks': delivering({ message: reversed }),
  'more-in-callbacks': delivering({
    message: message => ({ ...message, version: 2, duration_ms: 1.5, meta: { host: null } }),
  }),
  'escaped-callbacks': delivering({
    written: text => text.replace(/[^ -~]/g, unicodeEscape).replaceAll('/', '\\/'),
  }),
  'padded-callbacks': delivering({ written: text => `\r\n ${text}\n\n` }),
  'upper-case-callback-type': delivering({
    headers: { 'content-type': 'APPLICATION/JSON; CHARSET="UTF-8"' },
  }),
  'upper-case-callback-headers': delivering({
    headers: { 'CONTENT-TYPE': 'application/json', ACCEPT: '*/*', 'USER-AGENT': 'Python/3.13 aiohttp/3.11' },
  }),
  'repeated-callback-headers': delivering({
    headers: {
      'x-trace': ['1', '2'],
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    },
  }),
  'chunked-callbacks': delivering({ isChunked: true }),
  'kept-callback-connections': delivering({ agent: new Agent({ keepAlive: true, maxSockets: 4 }) }),
  'expects-100-continue': delivering({ headers: { expect: '100-continue' } }),
  'http-1.0-callbacks': delivering({ post: postAsHttp10 }),
  'callback-first': { disturbs: [...CALLBACKS, 'TOOL-ACK', 'TOOL-ASYNC'], isCallbackFirst: true },
  'late-results': delivering({ resultMs: 300 }),

  'content-and-text': { disturbs: RESULTS, result: text => ({ text, content: [{ type: 'text', text }] }) },
  'empty-patch': {
    disturbs: RESULTS,
    result: text => ({
      text,
      display_as: [
        { type: 'diff', content: { path: 'new.txt', patch: '' } },
        { type: 'text', content: 'new.txt created' },
      ],
    }),
  },
  'unknown-segment': {
    disturbs: RESULTS,
    result: text => ({
      text,
      display_as: [
        { type: 'acme.chart', content: { points: [1, 2] } },
        { type: 'text', content: 'a chart of 2 points' },
      ],
    }),
  },
};

/** Writes an answer of its own and closes the connection. */
function raw(response, first, lines, text) {
  response.socket.end([first, ...lines, '', text].join('\r\n'));
}

function linesOf(headers) {
  return Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
}

function upperCaseName(line) {
  return line.replace(/^[^:]*/, name => name.toUpperCase());
}

function sizeOf(text) {
  return Buffer.byteLength(text);
}

function unicodeEscape(unit) {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function reversed(value) {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, member]) => [name, reversed(member)]),
  );
}

/** Returns the status. */
async function postAsHttp10(url, path, text) {
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname);
  const lines = [
    `POST ${path} HTTP/1.0`,
    `Host: ${host}`,
    'Content-Type: application/json',
    `Content-Length: ${sizeOf(text)}`,
  ];
  socket.write([...lines, '', text].join('\r\n'));
  const [answer] = await once(socket, 'data');
  socket.destroy();
  return Number(/^HTTP\/1\.\d (\d{3})/.exec(answer.toString('latin1'))?.[1]);
}
