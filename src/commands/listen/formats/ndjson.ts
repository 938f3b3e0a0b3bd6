import { transcriptWriter } from '../../../exchange/transcript-writer.js';
import type { Format, FormatOptions } from './format.js';

/** Every event as it happens: the lines of a transcript. */
export function ndjsonFormat({ redactor, about }: FormatOptions): Format {
  const writer = transcriptWriter(redactor);
  const why = 'whoever reads this is too slow for it';
  return {
    begin: [writer.header(about)],
    isWhole: true,
    lines: event => writer.event(event),
    lost: (count, { seq, at }) => writer.event({ kind: 'dropped', what: 'event', why, count, seq, at }),
    end: reason => [writer.end(reason)],
  };
}
