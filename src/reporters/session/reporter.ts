import type { History } from '../../exchange/history.js';
import type { Sessions } from '../../exchange/session/sessions.js';
import type { Warning } from '../../protocol/requirements.js';
import { counted, withoutFollow } from '../../story/warnings.js';
import { warningsOfAll } from '../repeats/warnings.js';
import type { Reporter, Trouble } from '../reporter.js';

/** Both folds of what happens while a session is answered: they have had each event before a reporter is told. */
export interface KnownSession {
  readonly sessions: Sessions;
  /** Of the legs to a RAP tool; its exchanges have the keys of the calls. */
  readonly history: History;
}

/** The session that is answered. */
export interface AnsweredSession {
  readonly id: string;
  /** Of the session, without credentials. */
  readonly url: string;
}

/** What a reporter tells at the end. */
export interface SessionEnding {
  readonly session: AnsweredSession;
  readonly known: KnownSession;
  /** What the command itself has to warn of. */
  readonly notes: readonly Warning[];
  readonly trouble: Trouble | null;
}

/** One way to tell how a session is answered: as it happens, and at the end. */
export interface SessionReporter extends Pick<Reporter, 'event' | 'aside' | 'choose' | 'close'> {
  end(ending: SessionEnding): Promise<void>;
}

/** All that is worth a warning, each once. */
export function warningsOfSession({ known: { sessions, history }, notes }: SessionEnding): Warning[] {
  return counted([
    ...notes,
    ...sessions.warnings.map(message => ({ message })),
    ...warningsOfAll(history).map(withoutFollow),
  ]);
}
