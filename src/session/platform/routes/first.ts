import { mediaTypeOf } from '../../../text/media-type.js';
import { hasBody } from '../../../transport/body.js';
import type { Answer, Head } from '../../../transport/server.js';
import { type Detail, detail } from '../judge/detail.js';
import { NOT_FOUND } from '../judge/judge.js';
import { type Api, type Endpoint, idIn, refuse } from './endpoint.js';
import { keyCheck } from './key.js';
import { Served } from './served.js';

/** Why a request is answered before its body is read. */
interface Why {
  readonly status: number;
  readonly body: object;
  readonly reason: string;
}

const UNAUTHORISED = 'Invalid or missing API key.';

/**
 * What a request is answered by its head alone: 401 without the key, whatever else it is; then 404 where there is no such session; then
 * 422 for a body that is said to be no JSON. Of its body nothing is read, and nothing kept.
 */
export function firstAnswers(
  api: Api,
  { purpose, accepts, ofSession, verifies }: Endpoint,
): (head: Head) => Answer | undefined {
  const hasKey = keyCheck(api.key);
  const judge = (head: Head): Why | undefined => {
    if (!hasKey(head)) return { status: 401, body: { message: UNAUTHORISED }, reason: UNAUTHORISED };
    const session = api.store.get(idIn(head));
    if (ofSession && !session) return { status: 404, body: { detail: NOT_FOUND }, reason: NOT_FOUND };
    if (ofSession && session) api.store.touch(session.id);
    const misfit = contentFault(head, accepts);
    return misfit && { status: 422, body: { detail: [misfit] }, reason: misfit.msg };
  };
  return head => {
    const why = judge(head);
    if (!why) return undefined;
    const thread = api.store.get(idIn(head))?.id;
    const { status, body, reason } = why;
    const what = verifies === 'session' ? { what: verifies } : {};
    if (verifies) refuse(api, { ...what, session: thread ?? null, status, reason });
    const bodiless = { ...head, body: new Uint8Array(0) };
    return new Served(api.log, bodiless, { purpose, thread }).json(status, body);
  };
}

function contentFault({ headers }: Head, accepts: Endpoint['accepts'] = 'nothing'): Detail | undefined {
  const { 'content-type': type } = headers;
  const isBare = accepts === 'json?' && type === undefined && !hasBody({ headers });
  if (accepts === 'nothing' || isBare || mediaTypeOf(type ?? '') === 'application/json') return undefined;
  return detail(
    'content_type',
    ['header', 'Content-Type'],
    "Input should be 'application/json'",
    type ?? null,
  );
}
