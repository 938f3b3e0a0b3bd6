import { type EventRedactor, withQuestionSecrets } from '../../exchange/callback-secrets.js';
import type { Event } from '../../exchange/events.js';
import type { TranscriptHeader } from '../../exchange/transcript-format.js';
import type { Gap } from '../../rules/conformance.js';
import type { WireRecord } from '../../story/checks/wire-lines.js';
import { decodeUtf8 } from '../../text/json.js';
import { createRedactor } from '../../text/redact.js';

/** What somebody saw from its beginning to its end. */
export interface Recording {
  readonly observer: TranscriptHeader['observer'];
  readonly events: readonly Event[];
  /** Whether nothing of it was lost. */
  readonly isWhole: boolean;
}

/** What there is to judge, from whatever source. */
export interface Witness {
  /** For the report: the URL or the file. */
  readonly target: string;
  /** Each is judged by itself; an event has another number than those of the others. */
  readonly recordings: readonly Recording[];
  readonly gaps: readonly Gap[];
  readonly redactor: EventRedactor;
}

/** The events of all recordings, and what is secret in them. */
export function recordOf({ recordings, redactor }: Witness): WireRecord {
  return { events: recordings.flatMap(({ events }) => events), redactor };
}

/**
 * Takes out the credentials of the command line, and the tokens of callback URLs. Only what is long enough to be a token, and that
 * wherever it stands: a URL must come out the same in an invocation and in the callback that used it (TOOL-OPAQUE).
 */
export function redactorFor(credentials: readonly string[]): EventRedactor {
  const redactor = withQuestionSecrets(createRedactor(credentials));
  return {
    ...redactor,
    learn(event) {
      redactor.learn(event);
      for (const token of tokensIn(event)) redactor.add(token);
    },
  };
}

/** A body may be no JSON on purpose. */
const CALLBACK_URL = /callback_url\W{1,12}(https?:[^\s"'<>]+)/g;
const TOKEN = /[\w-]{16,}/g;

function tokensIn(event: Event): string[] {
  if (event.kind !== 'request' || event.purpose !== 'invocation' || !event.body) return [];
  const text = decodeUtf8(event.body.bytes) ?? '';
  return [...text.matchAll(CALLBACK_URL)].flatMap(([, url = '']) => url.match(TOKEN) ?? []);
}
