import { open, stat } from 'node:fs/promises';
import type { Event } from '../../events/events.js';
import { consentSecrets } from '../../events/shareable.js';
import type { Finding } from '../../protocol/driver.js';
import { REDACTED } from '../../util/redact.js';
import { cutBeforeToken } from '../../util/text.js';
import { isRecord, valueAt } from '../../util/values.js';

/** What one scenario added to the log of a runtime. */
export interface LogPart {
  readonly text: string;
  /** False if a part of it is missing: the log is too long, or the runtime began it anew. */
  readonly isWhole: boolean;
}

/** Maximum size of what is read of a log for one scenario, in bytes. */
const MAX_PART = 16 * 1024 * 1024;

/** The file to which a runtime writes its log, scenario after scenario. */
export class LogFile {
  #readUpTo = 0;

  constructor(readonly path: string) {}

  /** Skips what is in the file now. */
  async skip(): Promise<void> {
    this.#readUpTo = (await this.#size()) ?? 0;
  }

  /** Returns what was added; null if the file cannot be read. */
  async read(): Promise<LogPart | null> {
    const size = await this.#size();
    const file = size === null ? null : await open(this.path).catch(() => null);
    if (size === null || !file) return null;
    const isNew = size < this.#readUpTo;
    const from = isNew ? 0 : this.#readUpTo;
    const length = Math.min(size - from, MAX_PART);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, from);
      const text = buffer.toString('utf8', 0, bytesRead);
      return { text, isWhole: !isNew && from + bytesRead === size };
    } finally {
      await file.close();
    }
  }

  /** Null unless it is a regular file: reading a pipe could wait forever. */
  async #size(): Promise<number | null> {
    const there = await stat(this.path).catch(() => null);
    return there?.isFile() ? there.size : null;
  }
}

/** Maximum number of leaks that are reported of each place, and maximum length of their texts in characters. */
const MAX_LEAKS = 3;
const MAX_LEAK = 300;

/** What a scenario shows when it is over: secrets in the wrong places, operations in the log. */
export function findingsIn(events: readonly Event[], part: LogPart | null): readonly Finding[] {
  const secrets = [...new Set(events.flatMap(consentSecrets))];
  const leaks = (where: 'model' | 'failure' | 'log', texts: readonly string[]): Finding[] =>
    texts
      .filter(text => secrets.some(secret => text.includes(secret)))
      .slice(0, MAX_LEAKS)
      .map(text => ({ saw: 'leak', where, text: withoutSecrets(text, secrets) }));
  const found = [
    ...leaks('model', shownTo('model', events)),
    ...leaks('failure', shownTo('failure', events)),
  ];
  if (!part) return found;
  const operations = calledIn(events).filter(name => part.text.includes(name));
  const log = { saw: 'log', operations, isWhole: part.isWhole } as const;
  return [...found, ...leaks('log', secrets.length > 0 ? part.text.split('\n') : []), log];
}

function withoutSecrets(text: string, secrets: readonly string[]): string {
  const safe = secrets.reduce((rest, secret) => rest.replaceAll(secret, REDACTED), text);
  return cutBeforeToken(safe, MAX_LEAK);
}

function shownTo(who: 'model' | 'failure', events: readonly Event[]): readonly string[] {
  return events.flatMap(event => {
    const line = event.kind === 'driver' && event.body?.json.ok ? event.body.json.value : null;
    if (!isRecord(line) || line['saw'] !== who) return [];
    return typeof line['text'] === 'string' ? [line['text']] : [];
  });
}

function calledIn(events: readonly Event[]): readonly string[] {
  const names = events.flatMap(event => {
    if (event.kind !== 'request' || event.purpose !== 'invocation' || !event.body?.json.ok) return [];
    const name = valueAt(event.body.json.value, 'operation');
    return typeof name === 'string' ? [name] : [];
  });
  return [...new Set(names)];
}
