import { safeJson } from '../text/json-safe.js';
import { type Redactor, redactHeaders } from '../text/redact.js';
import { Content } from './content.js';
import type { Event } from './events.js';
import { shareableText } from './shareable.js';
import { TRANSCRIPT_FORMAT, type TranscriptHeader, type TranscriptLine } from './transcript-format.js';

/** Turns events into the lines of a shareable transcript: each body once, secrets out (threats, row 25). */
export interface TranscriptWriter {
  /** The line that starts the file. */
  header(about: Pick<TranscriptHeader, 'startedAt' | 'observer' | 'program'>): string;
  /** The event's line, after a `body` line where its bytes are new. */
  event(event: Event): string[];
  end(reason: string): string;
}

const REDACTION = 'callback tokens, credentials, header values, queries of auth_url';

export function transcriptWriter(redactor: Redactor): TranscriptWriter {
  const written = new Set<string>();
  const write = (line: TranscriptLine) => safeJson(line);
  const bodyLines = (body: BodyData) => {
    if (written.has(body.sha256)) return [];
    written.add(body.sha256);
    return [write({ kind: 'body', ...pick(body) })];
  };
  return {
    header: about => write({ kind: 'header', format: TRANSCRIPT_FORMAT, ...about, redaction: REDACTION }),
    event(event) {
      const body = 'body' in event && event.body ? bodyData(event.body, redactor) : null;
      return [...(body ? bodyLines(body) : []), write(eventLine(event, body, redactor))];
    },
    end: reason => write({ kind: 'end', reason }),
  };
}

interface BodyData {
  readonly sha256: string;
  readonly size: number;
  readonly encoding: 'utf8' | 'base64';
  readonly data: string;
}

const pick = ({ sha256, encoding, data }: BodyData) => ({ sha256, encoding, data });

function eventLine(event: Event, body: BodyData | null, redactor: Redactor): TranscriptLine {
  const ref = body ? { body: { sha256: body.sha256, size: body.size } } : {};
  if (event.kind === 'request')
    return {
      ...event,
      url: redactor.text(event.url),
      headers: redactHeaders(event.headers),
      body: undefined,
      ...ref,
    };
  if (event.kind === 'response')
    return { ...event, headers: redactHeaders(event.headers), body: undefined, ...ref };
  return event.kind === 'loaded' ? { ...event, endpoint: redactor.text(event.endpoint) } : event;
}

/** The digest is that of the redacted bytes: a reader can check it, and nobody can guess a secret against it. */
function bodyData(content: Content, redactor: Redactor): BodyData {
  const { bytes } = content;
  const data = shareableText(content, redactor);
  if (data === null) {
    const clean = new Content(Buffer.from(redactor.text(Buffer.from(bytes).toString('latin1')), 'latin1'));
    const base64 = Buffer.from(clean.bytes).toString('base64');
    return { sha256: clean.sha256, size: clean.bytes.length, encoding: 'base64', data: base64 };
  }
  const { sha256, bytes: shown } = new Content(Buffer.from(data));
  return { sha256, size: shown.length, encoding: 'utf8', data };
}
