import type { EventRedactor } from '../../exchange/callback-secrets.js';
import type { Gap } from '../../rules/conformance.js';
import type { Recording } from '../../rules/recording.js';
import type { WireRecord } from '../../story/checks/wire-legs.js';

/** What there is to judge, from whatever source. */
export interface Witness {
  /** For the report: the URL or the file. */
  readonly target: string;
  /** Whose lines are named; the target unless told. */
  readonly file?: string;
  /** Each is judged by itself; an event has another number than those of the others. */
  readonly recordings: readonly Recording[];
  readonly gaps: readonly Gap[];
  readonly redactor: EventRedactor;
}

/** The events of all recordings, and what is secret in them. */
export function recordOf({ target, file = target, recordings, redactor }: Witness): WireRecord {
  return { file, events: recordings.flatMap(({ events }) => events), redactor };
}
