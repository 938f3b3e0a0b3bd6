import { once } from 'node:events';
import { request as open } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Journal, ownOrigin, sendJson } from '../kit.mjs';
import { LEGAL } from './legal.mjs';

/**
 * What frameworks do by default. `target` writes the path and query of a callback URL; `refusal` gives the answer to a body that the
 * framework refuses before the tool sees it.
 */
const PECULIARITIES = {
  ...LEGAL,
  /** Python's requests, urllib3 and aiohttp, as RFC 3986 allows: escapes in upper case, none for unreserved characters. */
  'normalizes-escapes': {
    target: path => path.replace(/%[2-7][\da-f]/gi, unescapeWord).replace(/%../g, each => each.toUpperCase()),
  },
  /** aiohttp without `encoded=True`: what a query need not escape is decoded. */
  'decodes-query': {
    target: path => path.replace(/\?.*/s, query => query.replace(/%2f/gi, '/').replace(/%3f/gi, '?')),
  },
  /** Fastify: keys that may pollute a prototype. */
  'refuses-prototypes': {
    refusal: body =>
      Object.hasOwn(body, '__proto__') || Object.hasOwn(body, 'constructor')
        ? { status: 400, text: "Body is not valid JSON but content-type is set to 'application/json'" }
        : null,
  },
  /** Go's DisallowUnknownFields. */
  'refuses-unknown': {
    refusal: body =>
      refusedBy(body, MEMBERS, name => ({ status: 400, text: `json: unknown field "${name}"` })),
  },
  /** Jackson in Javalin. */
  'fails-on-unknown': {
    refusal: body => refusedBy(body, MEMBERS, () => ({ status: 500, text: 'Server Error' })),
  },
  /** A class with the required members alone. */
  'refuses-optional': {
    refusal: body => refusedBy(body, REQUIRED, () => ({ status: 500, text: 'Server Error' })),
  },
  /** FastAPI, whose routes end in a slash. */
  'redirects-to-slash': {
    refusal: () => ({ status: 307, text: '', headers: { location: '/invoke/' } }),
  },
  /** Django, which refuses every POST without a token of its own. */
  'refuses-posts': {
    refusal: () => ({
      status: 403,
      text: CSRF_PAGE,
      headers: { 'content-type': 'text/html; charset=utf-8' },
    }),
  },
  /** FastAPI with a model that requires more than the protocol does. */
  'requires-user': {
    refusal: body => (typeof body.user_id === 'string' ? null : { status: 422, text: MISSING_USER }),
  },
  /** Python's requests and urllib: a request goes to the proxy of the environment, unless `no_proxy` names its host. */
  'obeys-proxy': { isProxied: true },
  /** A route for invocations alone, behind a body parser. */
  'one-route': { noticeStatus: 404, malformedStatus: 400 },
  /** .NET with `Encoding.UTF8`, which begins each text with a mark. */
  'byte-order-mark': { written: raw => `\uFEFF${raw}` },
  /** A class of which null members are written too. */
  'null-migration': { toolset: { needsMigration: null } },
  /** A tool of MCP behind a thin layer: items, and no text. */
  'content-alone': { result: text => ({ content: [{ type: 'text', text }] }) },
  /** Jackson in a handler that has answered 200 already. */
  'reports-unknown': {
    fault: body => refusedBy(body, MEMBERS, name => `Error: unrecognized field "${name}". Leave it out.`),
  },
  /** A handler whose own protocol has versions. */
  'reports-version': {
    fault: body => (body.version === undefined ? null : 'Error: unsupported version. Leave it out.'),
  },
};

const CSRF_PAGE = `<!DOCTYPE html>
<html lang="en"><head><title>403 Forbidden</title><style>html * { padding:0; margin:0; }</style></head>
<body><h1>Forbidden <span>(403)</span></h1><p>CSRF verification failed. Request aborted.</p></body></html>`;

const MISSING_USER = JSON.stringify({
  detail: [
    {
      type: 'missing',
      loc: ['body', 'user_id'],
      msg: 'Field required',
      input: { operation: 'echo', arguments: { text: 'x'.repeat(200) } },
    },
  ],
});

function unescapeWord(code) {
  const character = decodeURIComponent(code);
  return /[\w.~-]/.test(character) ? character : code;
}

const REQUIRED = ['operation', 'arguments', 'id', 'callback_url', 'group_id'];

const MEMBERS = [...REQUIRED, 'call_id', 'thread_ancestors', 'user_id'];

function refusedBy(body, known, answer) {
  const unknown = Object.keys(body).find(name => !known.includes(name));
  return unknown === undefined ? null : answer(unknown);
}

const TOOLS = [
  {
    name: 'echo',
    description: 'Returns the text.',
    inputSchema: {
      type: 'object',
      properties: { text: { type: 'string' } },
      required: ['text'],
      additionalProperties: false,
    },
    annotations: { readOnly: true },
  },
];

function resultOf({ operation, arguments: given }) {
  if (operation !== 'echo') return 'Error: unknown operation. Available: echo.';
  const { text, ...others } = Object(given);
  if (typeof text !== 'string' || Object.keys(others).length > 0)
    return 'Error: text must be a string, and the only argument. Correct it and call again.';
  return text;
}

const PAUSES_MS = [100, 200, 400, 800, 1600];

/** A right tool in all but its peculiarity. */
export function peculiarTool({ PECULIARITY = '' }) {
  if (PECULIARITY && !Object.hasOwn(PECULIARITIES, PECULIARITY))
    throw new Error(`PECULIARITY=${PECULIARITY} is not known`);
  const {
    target = path => path,
    refusal = () => null,
    fault = () => null,
    isProxied = false,
    noticeStatus = 200,
    malformedStatus = 200,
    written = raw => raw,
    toolset = {},
    described = value => value,
    document = value => JSON.stringify(value),
    documentType = 'application/json',
    result = text => ({ text }),
    message = value => value,
    answer = (response, { status, headers, text }) => response.writeHead(status, headers).end(text),
    headers: callbackHeaders = {},
    isChunked = false,
    agent = false,
    post: postOnce = postOverHttp,
    isEarly = false,
    isCallbackFirst = false,
    firstRequestMs = 0,
    firstCallMs = 0,
    resultMs = 0,
    maxBody = Number.POSITIVE_INFINITY,
  } = PECULIARITIES[PECULIARITY] ?? {};
  const journal = new Journal();
  const pauses = { request: firstRequestMs, call: firstCallMs };

  const handle = async (request, response) => {
    const respond = (status, text = '', headers = {}) => answer(response, { status, headers, text });
    if (request.url === '/__log') return sendJson(response, journal.entries);
    await pauseOnce('request');
    if (request.url === '/.well-known/rap-toolset') {
      await journal.receive('discovery', request);
      const value = {
        name: 'peculiar-tool',
        endpoint: `${ownOrigin(request)}/invoke`,
        tools: TOOLS,
        ...toolset,
      };
      return respond(200, document(described(value)), { 'content-type': documentType });
    }
    if (Number(request.headers['content-length']) > maxBody)
      return respond(413, 'request entity too large', { connection: 'close' });
    const received = journal.receive(request.url.slice(1), request);
    if (isEarly) respond(200);
    const { body } = await received;
    const isCall = new URL(request.url, ownOrigin(request)).pathname === '/invoke';
    if (isCall) await invoke(body, isEarly ? () => {} : respond);
    else if (!isEarly) respond(noticeStatus);
  };

  async function invoke(body, respond) {
    await pauseOnce('call');
    if (!isObject(body)) return respond(malformedStatus);
    const refused = refusal(body);
    const acknowledge = () => respond(refused?.status ?? 200, refused?.text, refused?.headers);
    if (isCallbackFirst) setTimeout(acknowledge, 10);
    else acknowledge();
    if (refused || !/^http:\/\/./.test(body.callback_url)) return;
    if (resultMs > 0) await sleep(resultMs);
    const { id, call_id, group_id } = body;
    const own = { type: 'tool_result', id, call_id, group_id, ...result(fault(body) ?? resultOf(body)) };
    await deliver(body.callback_url, message(own));
  }

  /** The first time takes longer: a module is loaded, or a connection to a database opened. */
  async function pauseOnce(what) {
    const ms = pauses[what];
    pauses[what] = 0;
    if (ms > 0) await sleep(ms);
  }

  return Object.assign(handle, { entries: journal.entries });

  /** Tries again after a 5xx or a broken connection. */
  async function deliver(url, callback) {
    for (const pause of [...PAUSES_MS, 0]) {
      if ((await post(url, written(JSON.stringify(callback)))) < 500) return;
      await sleep(pause);
    }
  }

  /** The status; 599 without one. The request line has what `target` writes. */
  async function post(url, raw) {
    const [, origin, path] = /^(http:\/\/[^/]+)(.*)$/s.exec(url);
    const entry = journal.add('delivery', { url, headers: callbackHeaders, raw });
    try {
      entry.status = await postOnce(isProxied ? proxyFor(origin) : origin, target(path), raw);
    } catch (error) {
      entry.error = error.code ?? error.message;
    }
    return entry.status ?? 599;
  }

  async function postOverHttp(origin, path, raw) {
    const headers = {
      ...(!hasType(callbackHeaders) && { 'content-type': 'application/json' }),
      ...(!isChunked && { 'content-length': Buffer.byteLength(raw) }),
      ...callbackHeaders,
    };
    const outgoing = open(origin, { method: 'POST', path, headers, agent });
    if (callbackHeaders.expect) outgoing.once('continue', () => outgoing.end(raw)).flushHeaders();
    else outgoing.end(raw);
    const [answered] = await once(outgoing, 'response');
    outgoing.on('error', () => {});
    answered.resume();
    return answered.statusCode;
  }
}

function hasType(headers) {
  return Object.keys(headers).some(name => name.toLowerCase() === 'content-type');
}

function proxyFor(origin) {
  const { HTTP_PROXY = '', no_proxy = '' } = process.env;
  return HTTP_PROXY === '' || no_proxy.split(',').includes(new URL(origin).hostname) ? origin : HTTP_PROXY;
}

function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
