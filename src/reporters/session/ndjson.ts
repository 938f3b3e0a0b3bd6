import type { TranscriptAbout, TranscriptWriter } from '../../exchange/transcript-writer.js';
import { ndjsonReporter } from '../ndjson.js';
import type { Paper } from '../reporter.js';
import type { KnownSession, SessionReporter } from './reporter.js';

/** Every event of both legs as it happens: a transcript on stdout. */
export function ndjsonSession(
  { history }: KnownSession,
  paper: Paper,
  writer: TranscriptWriter,
  about: TranscriptAbout,
): SessionReporter {
  const { event, end } = ndjsonReporter(history, paper, writer, about);
  return {
    ...(event && { event }),
    end: ({ notes, trouble }) => end({ history, exchange: undefined, notes, trouble }),
  };
}
