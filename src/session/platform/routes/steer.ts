import * as z from 'zod/mini';
import { isTerminal } from '../../../protocol/session/status.js';
import { isRecord } from '../../../text/is-record.js';
import { readJson } from '../../../text/json.js';
import type { Incoming, Route } from '../../../transport/server.js';
import { type Detail, detail, read } from '../judge/detail.js';
import { cancel, canPause, canTake, forceAnswer, pause, resume, takeMessages } from '../state/steer.js';
import { sessionRoute } from './api.js';
import type { Api } from './endpoint.js';

const TOO_MUCH = { detail: 'This session has too many events.' };

/** Everything by which a client steers a session, apart from tool results. */
export function steerRoutes(api: Api): Route[] {
  return [
    ...Object.entries({ pause, resume, force_answer: forceAnswer }).map(([name, step]) =>
      sessionRoute(api, { method: 'POST', purpose: 'session', name }, ({ serve, session }) => {
        if (step === pause && !canPause(session)) return serve().json(429, TOO_MUCH);
        const answer = serve().empty(202);
        api.store.step(session, step);
        return answer;
      }),
    ),
    sessionRoute(api, { method: 'DELETE', purpose: 'session' }, ({ serve, session }) => {
      const answer = serve().empty(204);
      api.store.step(session, cancel);
      return answer;
    }),
    messagesRoute(api),
  ];
}

function messagesRoute(api: Api): Route {
  const endpoint = { method: 'POST', purpose: 'message', name: 'messages', accepts: 'json' } as const;
  return sessionRoute(api, endpoint, ({ incoming, serve, session }) => {
    const messages = messagesIn(incoming);
    if (!messages.ok) return serve().json(422, { detail: messages.details });
    if (isTerminal(session.phase)) return serve().json(409, { detail: 'Session has already finished.' });
    if (!canTake(session, messages.value) || !api.store.hasRoom(incoming.body.length))
      return serve().json(429, TOO_MUCH);
    const answer = serve().empty(202);
    api.store.step(session, (each, at) => takeMessages(each, messages.value, at));
    return answer;
  });
}

const messageSchema = z.object({ type: z.literal('user_message'), message: z.string() });
const batchSchema = z.object({ type: z.literal('batch'), messages: z.array(messageSchema) });

type MessagesReading =
  | { readonly ok: true; readonly value: readonly string[] }
  | { readonly ok: false; readonly details: readonly Detail[] };

/** One message, or a batch of them (platforms). */
function messagesIn({ body }: Incoming): MessagesReading {
  const json = readJson(body);
  if (!json.ok) return refused(detail('json_invalid', ['body'], `JSON decode error: ${json.reason}`, {}));
  if (!isRecord(json.value))
    return refused(detail('dict_type', ['body'], 'Input should be a valid dictionary', json.value));
  if (json.value['type'] !== 'batch') {
    const one = read(messageSchema, json.value, ['body']);
    return one.ok ? { ok: true, value: [one.value.message] } : one;
  }
  const batch = read(batchSchema, json.value, ['body']);
  return batch.ok ? { ok: true, value: batch.value.messages.map(({ message }) => message) } : batch;
}

function refused(...details: Detail[]): MessagesReading {
  return { ok: false, details };
}
