import { callbackSecrets, type EventRedactor } from '../../exchange/callback-secrets.js';
import type { Event } from '../../exchange/events.js';
import type { TranscriptHeader } from '../../exchange/transcript-format.js';
import { createRedactor } from '../../text/redact.js';

/** What there is to judge, from whatever source. */
export interface Witness {
  /** For the report: the URL or the file. */
  readonly target: string;
  readonly observer: TranscriptHeader['observer'];
  readonly events: readonly Event[];
  readonly redactor: EventRedactor;
}

/** Takes out the credentials of the command line, and what is secret in the URLs that events name. */
export function redactorFor(credentials: readonly string[]): EventRedactor {
  const ours = createRedactor(credentials);
  const learned = callbackSecrets();
  return {
    add: secret => ours.add(secret),
    text: text => learned.text(ours.text(text)),
    learn: event => learned.learn(event),
  };
}
