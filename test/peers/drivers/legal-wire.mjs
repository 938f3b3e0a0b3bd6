/** Peculiarities of right runtimes on the wire: what HTTP and JSON leave to them. */
import { once } from 'node:events';
import { Agent, request as startRequest } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { PatientRuntime } from './faults.mjs';

/** A right runtime for a busy process: it waits long for an acknowledgement, as a process of its own need not. */
export class UnhurriedRuntime extends PatientRuntime {
  limitFor(message, limit) {
    return 'operation' in message ? 30_000 : Math.max(limit, 1_500);
  }

  post(url, message, limit) {
    return super.post(url, message, this.limitFor(message, limit));
  }
}

const SENDING = ['result', 'status-503', 'choice', 'close', 'cancel'];

const ANSWERS = ['duplicates', 'wrong-ids', 'at-once', 'invalid-results', 'not-json', 'subscription'];

/**
 * Sends every message in another way. `text` writes the JSON of a message, `body` changes its members; `options` are those of the
 * request; `write` writes its body; `read` handles the answer.
 */
function sending({ text = JSON.stringify, body = same, options = {}, write, read = discard } = {}) {
  return {
    disturbs: SENDING,
    methods: {
      async post(url, message, limit) {
        const signal = AbortSignal.timeout(this.limitFor(message, limit));
        const bytes = Buffer.from(text(body(message)));
        const { headers = { 'content-type': 'application/json' }, ...others } = options;
        const length = write ? {} : { 'content-length': bytes.length };
        try {
          const request = startRequest(url, {
            method: 'POST',
            headers: { ...headers, ...length },
            ...others,
            signal,
          });
          if (write) write(request, bytes);
          else request.end(bytes);
          const [response] = await once(request, 'response');
          await read(response);
          return response.statusCode;
        } catch {
          return signal.aborted ? 'no answer in time' : 'unreachable';
        }
      },
    },
  };
}

const same = value => value;

const discard = response => void response.resume();

/** Writes a request line and headers of its own; the connection is closed after the answer. */
function sendingRaw(firstLine) {
  return {
    disturbs: SENDING,
    methods: {
      async post(url, message, limit) {
        const { hostname, port, host, pathname, search } = new URL(url);
        const text = JSON.stringify(message);
        const socket = connect(Number(port), hostname);
        const signal = AbortSignal.timeout(this.limitFor(message, limit));
        const headers = [
          `Host: ${host}`,
          'Content-Type: application/json',
          `Content-Length: ${Buffer.byteLength(text)}`,
          'Connection: close',
        ];
        try {
          socket.write([firstLine({ url, path: `${pathname}${search}` }), ...headers, '', text].join('\r\n'));
          const [answer] = await once(socket, 'data', { signal });
          const status = /^HTTP\/1\.\d (\d{3})/.exec(answer.toString('latin1'))?.[1];
          return status === undefined ? 'unreachable' : Number(status);
        } catch {
          return signal.aborted ? 'no answer in time' : 'unreachable';
        } finally {
          socket.on('error', () => {}).destroy();
        }
      },
    },
  };
}

function reversed(value) {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).toReversed();
  return Object.fromEntries(members.map(([name, member]) => [name, reversed(member)]));
}

const escaped = value =>
  JSON.stringify(value)
    .replace(/[^ -~]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .replaceAll('/', '\\/');

const POLICIES = Object.fromEntries(
  Array.from({ length: 50 }, (_, index) => [`x-policy-${index}`, 'v'.repeat(80)]),
);

/** An order of 10 bytes, then the rest after a moment. */
async function writeInPieces(request, bytes) {
  request.write(bytes.subarray(0, 10));
  await wait(30);
  request.end(bytes.subarray(10));
}

const answering = respond => ({ disturbs: ANSWERS, methods: { respond } });

const invoking = (members, disturbs = ['result', 'child-threads', 'parallel-calls']) => ({
  disturbs,
  methods: {
    invocation(...call) {
      const invocation = super.invocation(...call);
      return { ...members(invocation), ...invocation };
    },
  },
});

const refusing = change => ({
  disturbs: [...ANSWERS, 'invalid-questions', 'invalid-events', 'subscription-foreign'],
  methods: {
    async receive(request) {
      return super.receive(request).catch(error => {
        throw Object.assign(error, { status: change(error.status) });
      });
    },
  },
});

export const WIRE = {
  'pooled-connections': sending({ options: { agent: new Agent({ keepAlive: true, maxSockets: 2 }) } }),
  'fresh-connections': sending({ options: { agent: false } }),
  'upper-case-headers': sending({
    options: { headers: { 'CONTENT-TYPE': 'application/json', 'USER-AGENT': 'Python/3.13 aiohttp/3.11' } },
  }),
  'type-with-charset': sending({
    options: { headers: { 'content-type': 'APPLICATION/JSON; Charset="UTF-8"' } },
  }),
  'many-headers': sending({
    options: {
      headers: {
        'content-type': 'application/json',
        accept: '*/*',
        'x-trace': ['1', '2'],
        traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
        ...POLICIES,
      },
    },
  }),
  'expects-100-continue': sending({
    options: { headers: { 'content-type': 'application/json', expect: '100-continue' } },
  }),
  'chunked-requests': sending({ write: (request, bytes) => request.end(bytes) }),
  'requests-in-pieces': sending({ write: writeInPieces }),
  'http-1.0-requests': sendingRaw(({ path }) => `POST ${path} HTTP/1.0`),
  'absolute-request-targets': sendingRaw(({ url }) => `POST ${url} HTTP/1.1`),
  'padded-json': sending({ text: value => `\r\n\t${JSON.stringify(value, null, '\t')}\r\n\n ` }),
  'escaped-json': sending({ text: escaped }),
  'reversed-members': sending({ body: reversed }),
  'more-members': sending({
    body: message => ({ ...message, version: '1.2', 'x-acme': { team: [1, null] }, deadline: null }),
  }),
  'reads-answers': sending({
    async read(response) {
      for await (const _ of response);
    },
  }),
  'leaves-answers-unread': sending({ read: response => void response.destroy() }),

  'null-members': invoking(({ thread_ancestors }) => ({
    call_id: null,
    user_id: null,
    thread_ancestors: thread_ancestors ?? null,
  })),
  'second-ids-and-users': invoking(({ id }) => ({ call_id: `second of ${id}`, user_id: 'user_42' })),

  'answers-with-json': answering((response, status) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end('{"ok":true,"error":null}'),
  ),
  'answers-with-a-page': answering((response, status) =>
    response.writeHead(status, { 'content-type': 'text/html' }).end('<!doctype html><title>Received</title>'),
  ),
  'answers-in-http-1.0': answering((response, status) =>
    response.socket.end(`HTTP/1.0 ${status} Received\r\nX-Empty:\r\n\r\n`),
  ),
  'chunked-answers': answering((response, status) => {
    response.writeHead(status, { 'transfer-encoding': 'chunked' });
    response.write('received');
    response.end();
  }),
  'announces-close': answering((response, status) =>
    response.writeHead(status, { connection: 'close', 'content-length': 0 }).end(),
  ),
  'closes-silently': answering((response, status) => {
    const { socket } = response;
    response.writeHead(status, { 'content-length': 0 }).end(() => socket.end());
  }),
  'slow-answers': answering(async (response, status) => {
    await wait(300);
    response.writeHead(status, { 'content-length': 0 }).end();
  }),
  'interim-answers': answering((response, status) => {
    response.writeProcessing();
    response.writeEarlyHints({ link: '</style.css>; rel=preload' });
    response.writeHead(status, { 'content-length': 0 }).end();
  }),

  'refuses-foreign-with-410': refusing(status => (status === 404 ? 410 : status)),
  'refuses-foreign-with-403': refusing(status => (status === 404 ? 403 : status)),
  'refuses-malformed-with-422': refusing(status => (status === 400 ? 422 : status)),
  'refuses-all-with-400': refusing(() => 400),
  'refuses-large-bodies': {
    disturbs: ['large-message', 'texts'],
    methods: {
      async readBody(request) {
        const bytes = await super.readBody(request);
        if (bytes.length > 2 * 1024 * 1024)
          throw Object.assign(new Error('the body is too large'), { status: 413 });
        return bytes;
      },
    },
  },
};
