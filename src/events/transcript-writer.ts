import { createHash } from 'node:crypto';
import { RecentMap } from '../util/collections.js';
import { redactHeaders } from '../util/headers.js';
import { LIMITS } from '../util/limits.js';
import { type OutputLine, safeJsonLine } from '../util/output-line.js';
import type { Redactor } from '../util/redact.js';
import { redactJson } from '../util/redact-json.js';
import { piecesOf } from '../util/text.js';
import { Content } from './content.js';
import type { Body, Event, EventOf } from './events.js';
import { shareableText, shareableUrl, withoutSecretUrlsInText } from './shareable.js';
import type { BodyRef, TranscriptHeader, TranscriptLine } from './transcript-reader.js';

/** What the header of a transcript says about the recording. */
export type TranscriptAbout = Pick<TranscriptHeader, 'startedAt' | 'observer' | 'program'>;

const REDACTION = 'callback tokens, credentials, header values, queries of auth_url, tokens of response_url';

/** Turns events into the lines of a transcript. */
export interface TranscriptWriter {
  /** Returns the first line. */
  header(about: TranscriptAbout): string;
  /** Returns the event's line, after a `body` line if its bytes are new; nothing after the end. */
  event(event: Event): string[];
  /** As `event`, but returns a long line in pieces, which are created as they are written. */
  lines(event: Event): readonly OutputLine[];
  /** Returns the line that closes the file, numbered after the last event. */
  end(reason: string): string;
}

/**
 * Turns events into the lines of a transcript without secrets (threats, row 25). A body is written once, unless that was long ago.
 * @example
 * const writer = transcriptWriter(createRedactor(['my-token']));
 * const about = { startedAt: new Date().toISOString(), observer: 'runtime', program: 'my-program/1.0' } as const;
 * const lines = [writer.header(about), ...events.flatMap(event => writer.event(event)), writer.end('done')];
 */
export function transcriptWriter(redactor: Redactor): TranscriptWriter {
  const written = new RecentMap<string, true>(LIMITS.eventsKept.value); // to write each body once
  let next = 0;
  let isOver = false;
  const write = (line: TranscriptLine) => safeJsonLine(line);
  const known = new WeakMap<Body, BodyRef>();
  /** What an event's line says about its body, and the `body` line if the bytes are new. */
  const take = (content: Body): { readonly ref: BodyRef; readonly lines: readonly OutputLine[] } => {
    const before = known.get(content);
    if (before && written.get(before.sha256)) return { ref: before, lines: [] };
    const { sha256, size, ...data } = bodyData(content, redactor);
    const ref = { sha256, size };
    known.set(content, ref);
    if (written.get(sha256)) return { ref, lines: [] };
    written.set(sha256, true);
    return { ref, lines: [write({ kind: 'body', sha256, ...data })] };
  };
  const linesOf = (event: Event): readonly OutputLine[] => {
    if (isOver) return [];
    next = Math.max(next, event.seq + 1);
    const body = 'body' in event && event.body ? take(event.body) : null;
    return [...(body?.lines ?? []), write(eventLine(event, body?.ref ?? null, redactor))];
  };
  return {
    header: (about: TranscriptAbout): string =>
      whole(write({ kind: 'header', format: 'protocol-cli-transcript/1', ...about, redaction: REDACTION })),
    event: (event: Event): string[] => linesOf(event).map(whole),
    lines: linesOf,
    end(reason: string): string {
      isOver = true;
      return whole(write({ kind: 'end', seq: next, reason }));
    },
  };
}

/** Output to a reader that may be slow. */
interface Output {
  write(...texts: readonly OutputLine[]): void;
  /** Drops these texts if too much is waiting; `reportLoss` then returns texts that report how many were dropped. */
  news(make: () => readonly OutputLine[], reportLoss: (count: number) => readonly OutputLine[]): void;
}

/** Writes a transcript as its events happen. */
export function streamTranscript(output: Output, redactor: Redactor, about: TranscriptAbout) {
  const writer = transcriptWriter(redactor);
  const why = 'the reader of stdout is too slow; events were dropped';
  let latest = { seq: 0, at: 0 };
  const write = (event: Event) => writer.lines(event).flatMap(line => [line, '\n']);
  const reportLoss = (count: number) => write({ kind: 'dropped', what: 'event', why, count, ...latest });
  output.write(writer.header(about), '\n');
  return {
    event(event: Event): void {
      output.news(() => write(event), reportLoss);
      latest = { seq: event.seq, at: event.at };
    },
    end(reason: string): void {
      output.write(); // the number of the last dropped events, before the end
      output.write(writer.end(reason), '\n');
    },
  };
}

function whole(line: OutputLine): string {
  return typeof line === 'string' ? line : [...line].join('');
}

interface BodyData extends BodyRef {
  readonly encoding: 'utf8' | 'base64';
  readonly data: string;
}

function eventLine(event: Event, body: BodyRef | null, redactor: Redactor): TranscriptLine {
  const ref = body ? { body } : {};
  if (event.kind !== 'request' && event.kind !== 'response')
    return { ...shareableFact({ ...event, body: undefined }, redactor), ...ref } as TranscriptLine;
  const wire = { headers: redactHeaders(event.headers, redactor), body: undefined, ...ref };
  if (event.kind === 'request') return { ...event, url: shareableUrl(event, redactor), ...wire };
  const { refusal } = event;
  const why = refusal === undefined ? {} : { refusal: redactor.text(withoutSecretUrlsInText(refusal)) };
  return { ...event, ...wire, ...why };
}

/** A fact without secrets, which any of its texts may quote. Ids of calls and threads are kept, since they connect events. */
function shareableFact(event: object, redactor: Redactor): object {
  const clean = <T>(value: T): T => {
    const text = JSON.stringify(value);
    const safe = redactJson(text, redactor);
    return safe === text ? value : JSON.parse(safe);
  };
  const { calls, thread, pending, ...fact } = event as Partial<EventOf<'awaiting'>>;
  const asked = pending?.map(each => ({ ...each, ...clean({ args: each.args }) }));
  return { ...event, ...clean(fact), ...(asked && { pending: asked }) };
}

/** The digest of the redacted bytes: a reader can verify it, and it cannot be used to guess secrets. */
function bodyData(content: Body, redactor: Redactor): BodyData {
  const data = shareableText(content, redactor);
  if (data === null) {
    const clean = new Content(
      Buffer.from(redactor.text(Buffer.from(content.bytes).toString('latin1')), 'latin1'),
    );
    const base64 = Buffer.from(clean.bytes).toString('base64');
    return { sha256: clean.sha256, size: clean.size, encoding: 'base64', data: base64 };
  }
  const digest = createHash('sha256');
  for (const piece of piecesOf(data)) digest.update(piece);
  return { sha256: digest.digest('hex'), size: Buffer.byteLength(data), encoding: 'utf8', data };
}
