import { callbackSecrets, type EventRedactor, withQuestionSecrets } from '../exchange/callback-secrets.js';
import type { RequestEvent } from '../exchange/events.js';
import { cleanWords, type Redactor } from '../text/redact.js';

/**
 * What is secret in an exchange that we see from outside, learned from its events (threats, row 25): the callback URLs, of whatever
 * looks like an invocation, and the addresses of questions.
 * @param credentials what else is secret
 */
export function wireSecrets(credentials: Redactor): EventRedactor {
  const callbacks = callbackSecrets();
  const questions = withQuestionSecrets({
    add: secret => credentials.add(secret),
    text: text => callbacks.text(credentials.text(text)),
    words: text => cleanWords(callbacks, cleanWords(credentials, text)),
  });
  return {
    ...questions,
    learn(event) {
      callbacks.learn(event);
      questions.learn(event);
      if (event.kind === 'request' && event.purpose === 'invocation') learnUrls(callbacks, event);
    },
  };
}

const CALLBACK_URL = /callback_url\W{1,12}(https?:[^\s"'<>\\]{1,4096})/gi;

/** Of an invocation that is no JSON, or has several callback URLs, all that look like one. */
function learnUrls(callbacks: EventRedactor, { body, ...event }: RequestEvent): void {
  const text = body ? Buffer.from(body.bytes).toString('utf8').replaceAll('\\/', '/') : '';
  for (const [, url = ''] of text.matchAll(CALLBACK_URL))
    callbacks.learn({ ...event, purpose: 'callback', url });
}
