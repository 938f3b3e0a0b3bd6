import type { Exchange } from '../../../src/events/exchange.js';
import { History } from '../../../src/events/history.js';
import { readTranscript, type Transcript } from '../../../src/events/transcript-reader.js';
import { publishedSchema } from '../../support/published-schema.js';

export interface Folded extends Transcript {
  readonly history: History;
  /** The only call. */
  readonly exchange: Exchange;
}

const published = publishedSchema('transcript');

/** What a transcript's lines come to. @throws Error where no call was made, or a line does not fit the published schema. */
export function folded(ndjson: string): Folded {
  const lines = ndjson.split('\n');
  const misfits = lines.flatMap(line => (line === '' ? [] : published.faultsOf(JSON.parse(line))));
  if (misfits.length > 0) throw new Error(`no transcript as it is published: ${misfits.join('\n')}`);
  const transcript = readTranscript(lines);
  const history = new History();
  for (const event of transcript.events) history.apply(event);
  const exchange = history.first;
  if (!exchange) throw new Error(`no call in this transcript: ${ndjson.slice(0, 500)}`);
  return { ...transcript, history, exchange };
}

/** Of each callback: its type, what was judged of it, what was answered. */
export function arrivalsOf({ arrivals }: Exchange): string[] {
  return arrivals.map(({ message, verdict, status }) => `${message?.type} ${verdict.kind} ${status}`);
}
