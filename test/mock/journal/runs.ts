import { Content } from '../../../src/events/content.js';
import type { Turn } from '../../../src/events/events.js';
import { createLog, type Log } from '../../../src/events/log.js';
import { type JournalOptions, openJournal } from '../../../src/mock/journal/journal.js';
import type { Recovery } from '../../../src/mock/journal/recovery.js';
import { temporaryFolder as emptyFolder } from '../../e2e/support/folder.js';

export type Folder = Awaited<ReturnType<typeof temporaryFolder>>;

/** @returns the path of a journal in it as `path` */
export async function temporaryFolder() {
  const made = await emptyFolder();
  return { ...made, folder: made.path, path: made.file('mock.ndjson') };
}

export const journalAt = (path: string, options: Partial<JournalOptions> = {}) =>
  openJournal({ path, startedAt: '2025-01-01T00:00:00Z', program: 'test', ...options });

/** One run on a journal: what it found, and then what happened in it. */
export async function run(path: string, happens: (log: Log) => void = () => {}): Promise<Recovery> {
  const { journal, recovery } = await journalAt(path);
  const log = createLog(() => 0);
  log.storeEventsIn(journal);
  happens(log);
  await log.stored();
  await journal.close();
  return recovery;
}

export const invocationOf = (id: string) =>
  new Content(Buffer.from(`{"operation":"edit", "id":"${id}","group_id":"g"}`));
export const messageOf = (type: string, id: string) => Content.ofJson({ type, group_id: 'g', id });

export interface Names {
  readonly key?: string;
  readonly body?: Content;
  readonly attempt?: number;
  readonly purpose?: 'invocation' | 'cancel' | 'close';
  readonly turn?: Turn | undefined;
}

export function received(
  log: Log,
  id: string,
  { key = id, attempt = 1, purpose = 'invocation', body = invocationOf(id) }: Names = {},
): string {
  const leg = log.leg();
  log.emit({
    kind: 'request',
    leg,
    from: 'runtime',
    to: 'tool',
    purpose,
    method: 'POST',
    url: '/invoke',
    headers: { authorization: 'Bearer t0ken' },
    attempt,
    body,
    calls: [key],
    thread: 'g',
  });
  return leg;
}

export function answered(log: Log, leg: string, status: number, key: string): void {
  log.emit({ kind: 'response', leg, status, headers: {}, calls: [key], thread: 'g' });
}

/** Received and acknowledged. */
export function accepted(log: Log, id: string): void {
  answered(log, received(log, id), 200, id);
}

export function posted(log: Log, key: string, body: Content, { attempt = 1, turn }: Names = {}): string {
  const leg = log.leg();
  log.emit({
    kind: 'request',
    leg,
    from: 'tool',
    to: 'runtime',
    purpose: 'callback',
    method: 'POST',
    url: 'http://127.0.0.1:9/cb?token=x',
    headers: { 'content-type': 'application/json' },
    attempt,
    body,
    turn,
    calls: [key],
    thread: 'g',
  });
  return leg;
}

export function dropped(
  log: Log,
  key: string,
  why: string,
  sign: { readonly leg?: string; readonly type?: string },
): void {
  log.emit({ kind: 'dropped', what: 'callback', why, count: 1, calls: [key], thread: 'g', ...sign });
}
