import { callbackSecrets, type EventRedactor, withQuestionSecrets } from '../../exchange/callback-secrets.js';
import type { Event, RequestEvent } from '../../exchange/events.js';
import { PROTOCOL_WORDS } from '../../protocol/words.js';
import { fieldsOf } from '../../recorder/rewrite.js';
import { createRedactor } from '../../text/redact.js';
import { secretsOf } from '../headers.js';

/** What headers that carry credentials are called; who names a call by its `Idempotency-Key` tells no secret. */
const CREDENTIAL = /auth|cookie|credential|(?<!idempotency-)key|password|secret|signature|token/i;
/** Shorter ones may be anything, and header values are not written down anyway. */
const SHORTEST = 8;
const IDS = ['id', 'group_id', 'call_id', 'tool_call_id', 'thread_id', 'session_id'];

/**
 * What is secret in a recording, learned from its events (threats, row 25): the callback URLs of both sides, the addresses of
 * questions, and whatever either side sent as a credential.
 */
export function recordedSecrets(): EventRedactor {
  const callbacks = callbackSecrets();
  const credentials = createRedactor();
  const questions = withQuestionSecrets({
    add: secret => credentials.add(secret),
    text: text => callbacks.text(credentials.text(text)),
  });
  return {
    ...questions,
    learn(event) {
      callbacks.learn(event);
      questions.learn(event);
      if (event.kind === 'request' && event.purpose === 'invocation') learnUrls(callbacks, event);
      for (const secret of credentialsIn(event)) credentials.add(secret);
    },
  };
}

/** Ids of the message itself are none: a recording without them tells of nothing. */
function credentialsIn(event: Event): string[] {
  if (event.kind !== 'request' && event.kind !== 'response') return [];
  const named = Object.entries(event.headers).filter(([name]) => CREDENTIAL.test(name));
  const told = named.length > 0 ? idsIn(event) : [];
  const isSecret = (value: string) => !told.includes(value) && !PROTOCOL_WORDS.has(value);
  return secretsOf(Object.fromEntries(named)).filter(value => value.length >= SHORTEST && isSecret(value));
}

function idsIn({ body, calls = [], thread }: Extract<Event, { kind: 'request' | 'response' }>): unknown[] {
  const fields = fieldsOf(body);
  return [...IDS.map(name => fields[name]), ...calls, thread];
}

const CALLBACK_URL = /callback_url\W{1,12}(https?:[^\s"'<>\\]{1,4096})/gi;

/** Of an invocation that is no JSON, or has several callback URLs, all that look like one. */
function learnUrls(callbacks: EventRedactor, { body, ...event }: RequestEvent): void {
  const text = body ? Buffer.from(body.bytes).toString('utf8').replaceAll('\\/', '/') : '';
  for (const [, url = ''] of text.matchAll(CALLBACK_URL))
    callbacks.learn({ ...event, purpose: 'callback', url });
}
