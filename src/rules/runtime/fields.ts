import type { Invocation } from '../../protocol/invocation.js';
import { mediaTypeOf } from '../../text/media-type.js';
import { readUrl } from '../../text/url.js';
import type { CallEvidence, Evidence } from '../evidence/evidence.js';
import { type Leg, statusOf } from '../evidence/leg.js';
import { isBodyLost } from '../evidence/lost-body.js';
import { broken, doubtful, held, lacking, type Observation, unseen } from '../observation.js';
import type { Rule } from '../rule.js';

/** RT-FIELDS: a POST of JSON with all that is required, and a callback URL at which somebody is. */
export const sendsAllFields: Rule = {
  id: 'RT-FIELDS',
  masks: ['RT-OP', 'RT-ARGS'],
  absent: 'no invocation was sent',
  observe: ({ calls }: Evidence) => calls.flatMap(onCall),
};

function onCall(call: CallEvidence): Observation[] {
  const [first] = call.attempts;
  if (!first) return [];
  if (isBodyLost(first.request)) return [unseen('the body of an invocation was not kept', [first])];
  const fault = faultOfRequest(first) ?? faultOfBody(call);
  if (fault !== null) return [broken(fault, [first])];
  const { reading } = call;
  if (reading.ok && reading.invocation.thread_ancestors?.length === 0)
    return [doubtful('thread_ancestors is empty; a root thread leaves it out', [first])];
  return [isUnreachable(call) ? lacking(UNREACHABLE, [first, ...call.callbacks]) : held([first])];
}

const UNREACHABLE = 'nothing listened at the callback_url: no callback could connect to it';

function faultOfRequest({ request: { method, headers } }: Leg): string | null {
  if (method !== 'POST') return `the invocation is a ${method}, not a POST`;
  const type = headers['content-type'];
  if (type === undefined) return 'the invocation has no Content-Type';
  return mediaTypeOf(type) === 'application/json' ? null : `the Content-Type is not application/json`;
}

function faultOfBody({ reading }: CallEvidence): string | null {
  if (!reading.ok) return `the invocation is malformed: ${reading.faults[0]}`;
  return faultOfUrl(reading.invocation) ?? faultOfAncestors(reading.invocation);
}

function faultOfUrl({ callback_url }: Invocation): string | null {
  const url = readUrl(callback_url);
  if (url === null) return 'callback_url is no URL';
  return /^https?:$/.test(url.protocol) ? null : 'callback_url is neither http nor https';
}

function faultOfAncestors({ thread_ancestors, group_id }: Invocation): string | null {
  return thread_ancestors?.includes(group_id) ? 'thread_ancestors names the thread itself' : null;
}

/** It was tried, and never once could anybody connect. */
function isUnreachable({ callbacks }: CallEvidence): boolean {
  return (
    callbacks.length > 0 && callbacks.every(leg => statusOf(leg) === null && leg.broken?.phase === 'connect')
  );
}
