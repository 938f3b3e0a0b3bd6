import type { Body } from '../../events/events.js';
import type { RoundTrip } from '../../events/round-trips.js';
import { jsonLine } from '../../render/line.js';
import { bodyText, tripParts } from '../../render/wire.js';
import { memoizeByObject } from '../../util/collections.js';
import { prettyJson } from '../../util/json-text.js';
import type { Redactor } from '../../util/redact.js';
import { type Document, linesDocument } from './document.js';
import { joinedDocument } from './joined-document.js';
import { textDocument } from './text-document.js';

const BLANK = linesDocument([[]]);

/** Returns what lays out a request with its response, as curl shows them, without secrets (threats, row 25). */
export function roundTripDocuments(redactor: Redactor): (trip: RoundTrip) => Document {
  /** Cached: a body may be 50 MiB. */
  const lay = memoizeByObject((body: Body) => {
    const text = bodyText(body, redactor) ?? '';
    const pretty = prettyJson(text);
    if (pretty === null) return textDocument(text);
    const document = textDocument(pretty);
    return { ...document, line: (index: number) => jsonLine(document.line(index)) };
  });
  return trip => {
    const parts = tripParts(trip, redactor).flatMap(part =>
      'bytes' in part ? [BLANK, lay(part), BLANK] : [linesDocument(part)],
    );
    return joinedDocument([...parts, BLANK]);
  };
}
