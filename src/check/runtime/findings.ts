import { type FileHandle, open, stat } from 'node:fs/promises';
import type { Event } from '../../events/events.js';
import { consentSecrets } from '../../events/shareable.js';
import type { Finding, Observation } from '../../protocol/driver.js';
import { REDACTED } from '../../util/redact.js';
import { cutBeforeToken } from '../../util/text.js';
import { valueAt } from '../../util/values.js';

/** The part of a runtime's log that one scenario wrote. */
export interface LogPart {
  readonly text: string;
  /** False if a part of it is missing: the log is too long, or the runtime truncated it. */
  readonly isWhole: boolean;
}

/** Maximum size of the part of one scenario, in bytes. */
const MAX_PART = 16 * 1024 * 1024;

/** How many bytes at the end of a log are compared later, to detect that the runtime truncated it. */
const TAIL = 256;

/** The file to which a runtime writes its log, scenario after scenario. */
export class LogFile {
  /** The end of the file before the scenario, and its last bytes. */
  #end: { readonly at: number; readonly last: Buffer } = { at: 0, last: Buffer.alloc(0) };

  constructor(readonly path: string) {}

  /** Skips the present content. */
  async skip(): Promise<void> {
    const end = await this.#with(async (file, at) => {
      const length = Math.min(at, TAIL);
      return { at, last: await bytesOf(file, at - length, length) };
    });
    this.#end = end ?? { at: 0, last: Buffer.alloc(0) };
  }

  /** Returns the added part; null if the file cannot be read. */
  read(): Promise<LogPart | null> {
    const { at, last } = this.#end;
    return this.#with(async (file, size) => {
      const isSame = last.equals(await bytesOf(file, at - last.length, last.length));
      const from = isSame ? at : 0;
      const bytes = await bytesOf(file, from, Math.min(size - from, MAX_PART));
      return { text: bytes.toString('utf8'), isWhole: isSame && from + bytes.length === size };
    });
  }

  /** Opens the file; null unless it is a regular one: reading a pipe could wait forever. */
  async #with<Result>(work: (file: FileHandle, size: number) => Promise<Result>): Promise<Result | null> {
    const there = await stat(this.path).catch(() => null);
    const file = there?.isFile() ? await open(this.path).catch(() => null) : null;
    if (!there || !file) return null;
    try {
      return await work(file, there.size);
    } finally {
      await file.close();
    }
  }
}

async function bytesOf(file: FileHandle, from: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, from);
  return buffer.subarray(0, bytesRead);
}

/** Maximum number of leaks reported per place, and maximum length of their texts in characters. */
const MAX_LEAKS = 3;
const MAX_LEAK = 300;

/** Findings at the end of a scenario: leaked secrets, and the operations in the log. */
export function findingsIn(
  events: readonly Event[],
  observations: readonly Observation[],
  part: LogPart | null,
): readonly Finding[] {
  const secrets = [...new Set(events.flatMap(consentSecrets))];
  const leaks = (where: 'model' | 'failure' | 'log', texts: readonly string[]): Finding[] =>
    texts
      .filter(text => secrets.some(secret => text.includes(secret)))
      .slice(0, MAX_LEAKS)
      .map(text => ({ saw: 'leak', where, text: withoutSecrets(text, secrets) }));
  const found = [
    ...leaks('model', textsFor('model', observations)),
    ...leaks('failure', textsFor('failure', observations)),
  ];
  if (!part) return found;
  const operations = calledIn(events).filter(name => hasWord(part.text, name));
  const log = { saw: 'log', operations, isWhole: part.isWhole } as const;
  return [...found, ...leaks('log', secrets.length > 0 ? part.text.split('\n') : []), log];
}

/** Whether a text contains a word, not only as a part of a longer one. */
function hasWord(text: string, word: string): boolean {
  if (word === '') return false;
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1))
    if (!isInWord(text[at - 1]) && !isInWord(text[at + word.length])) return true;
  return false;
}

function isInWord(character = ' '): boolean {
  return /[\w-]/.test(character);
}

function withoutSecrets(text: string, secrets: readonly string[]): string {
  const safe = secrets.reduce((rest, secret) => rest.replaceAll(secret, REDACTED), text);
  return cutBeforeToken(safe, MAX_LEAK);
}

function textsFor(who: 'model' | 'failure', observations: readonly Observation[]): readonly string[] {
  return observations.flatMap(each => (each.saw === who ? [each.text] : []));
}

function calledIn(events: readonly Event[]): readonly string[] {
  const names = events.flatMap(event => {
    if (event.kind !== 'request' || event.purpose !== 'invocation' || !event.body?.json.ok) return [];
    const name = valueAt(event.body.json.value, 'operation');
    return typeof name === 'string' ? [name] : [];
  });
  return [...new Set(names)];
}
