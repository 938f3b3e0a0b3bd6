import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { sendAnswer } from './answering.js';
import { BodyShare, readBody } from './body.js';
import { BrokenRequests } from './broken-request.js';
import { admit, type Door } from './guard.js';
import type { ServerLimits } from './limits.js';
import { Denial, type Refusal } from './refusal.js';
import type { Answer, Incoming, Reply, Route } from './route.js';

export interface Post extends Door {
  /**
   * Says in the answer why a request is refused, in words or as `{"detail":…}`: the texts are ours, and echo nothing (threats, row 28).
   * Bare unless told.
   */
  readonly explains?: boolean | 'json';
  readonly onRefused?: (refusal: Refusal) => void;
}

const NOTHING = new Uint8Array(0);

/** Takes every request of a server from its head to its answer, and tells which were refused and why. */
export function attend(server: Server, post: Post, limits: ServerLimits): void {
  const budget = { bytes: Math.max(limits.bodyBytes, post.maxBody) };
  const tell = (denial: Denial, request?: IncomingMessage) => post.onRefused?.(refusalOf(denial, request));
  const broken = new BrokenRequests(server, tell, limits);
  const { connections } = broken;
  const send = (request: IncomingMessage, response: ServerResponse, answer: Answer) =>
    sendAnswer(request, response, answer, { lingerMs: limits.lingerMs, connections });

  const deny = async (denial: Denial, request: IncomingMessage, response: ServerResponse) => {
    if (!broken.knows(request.socket)) tell(denial, request);
    if (response.headersSent) request.socket.destroy();
    else if (denial.status > 0) await send(request, response, answerTo(denial, post));
  };
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    connections.begin(request, response);
    const share = new BodyShare(budget);
    try {
      const reply = await replyTo(request, response, post, share);
      if (reply instanceof Denial) await deny(reply, request, response);
      else if (reply === 'reset') request.socket.resetAndDestroy();
      else await send(request, response, reply);
    } finally {
      share.release();
    }
  };
  const listener = (request: IncomingMessage, response: ServerResponse) =>
    void serve(request, response).catch(error => deny(failure(error), request, response));

  server.on('request', listener).on('checkContinue', listener);
  server.on('error', error =>
    tell(new Denial(0, 'failed', `a connection was not accepted: ${error.message}`)),
  );
}

function answerTo({ status, headers, detail }: Denial, { explains = false }: Post): Answer {
  if (!explains || status >= 500) return { status, headers };
  const words = `refused, since ${detail}`;
  if (explains !== 'json') return { status, headers, body: `${words}\n` };
  const json = { 'Content-Type': 'application/json' };
  return { status, headers: { ...headers, ...json }, body: JSON.stringify({ detail: words }) };
}

async function replyTo(
  request: IncomingMessage,
  response: ServerResponse,
  post: Post,
  share: BodyShare,
): Promise<Reply | Denial> {
  const route = admit(request, post);
  if (!('handle' in route)) return route;
  const body = await bodyFor(route, request, response, post.maxBody, share);
  return body instanceof Denial ? body : route.handle(incoming(request, response, body));
}

function bodyFor(
  route: Route,
  request: IncomingMessage,
  response: ServerResponse,
  maxBody: number,
  share: BodyShare,
) {
  if (route.accepts === 'nothing') return NOTHING;
  if (request.headers.expect !== undefined) response.writeContinue();
  return readBody(request, maxBody, share);
}

function incoming(
  { method = '', url = '', headers, socket }: IncomingMessage,
  response: ServerResponse,
  body: Uint8Array,
): Incoming {
  const onGone = (callback: () => void) =>
    void response.once('close', () => {
      if (!response.writableEnded) callback();
    });
  return { method, target: url, headers, body, remote: socket.remoteAddress ?? '', onGone };
}

function refusalOf({ status, reason, detail }: Denial, request?: IncomingMessage): Refusal {
  const { method, url: target, headers } = request ?? {};
  return { status, reason, detail, ...(request && { method, target, host: headers?.host }) };
}

function failure(error: unknown): Denial {
  return new Denial(
    500,
    'failed',
    `its handler failed: ${error instanceof Error ? error.message : String(error)}`,
  );
}
