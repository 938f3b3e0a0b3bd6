import { callbackSecrets, type EventRedactor, withQuestionSecrets } from '../../exchange/callback-secrets.js';
import type { Event, RequestEvent } from '../../exchange/events.js';
import { createRedactor } from '../../text/redact.js';
import { secretsOf } from '../headers.js';

/** What headers that carry credentials are called. */
const CREDENTIAL = /auth|cookie|credential|key|password|secret|signature|token/i;

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

function credentialsIn(event: Event): string[] {
  if (event.kind !== 'request' && event.kind !== 'response') return [];
  const named = Object.entries(event.headers).filter(([name]) => CREDENTIAL.test(name));
  return secretsOf(Object.fromEntries(named)).filter(secret => secret !== '');
}

const CALLBACK_URL = /callback_url\W{1,12}(https?:[^\s"'<>\\]{1,4096})/gi;

/** Of an invocation that is no JSON, or has several callback URLs, all that look like one. */
function learnUrls(callbacks: EventRedactor, { body, ...event }: RequestEvent): void {
  const text = body ? Buffer.from(body.bytes).toString('utf8').replaceAll('\\/', '/') : '';
  for (const [, url = ''] of text.matchAll(CALLBACK_URL))
    callbacks.learn({ ...event, purpose: 'callback', url });
}
