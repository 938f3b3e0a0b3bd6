import { type FileHandle, open, stat } from 'node:fs/promises';
import type { Event } from '../../events/events.js';
import { consentSecrets } from '../../events/shareable.js';
import type { Finding } from '../../protocol/driver.js';
import { REDACTED } from '../../util/redact.js';
import { cutBeforeToken } from '../../util/text.js';
import { valueAt } from '../../util/values.js';

interface Findings {
  readonly findings: readonly Finding[];
  /** Why the log was not read, or only in part. */
  readonly warning?: string;
}

/** Maximum size of the part of one scenario, in bytes. */
const MAX_PART = 16 * 1024 * 1024;

/** How many bytes at the end of a log are compared later, to detect that the runtime truncated it. */
const TAIL = 256;

const NOTHING = Buffer.alloc(0);

/**
 * Remembers where the runtime's own log ends. Returns a function that finds, after a scenario, leaked secrets, and the operations that
 * the log names since then. Without a log, it finds only what the model got.
 */
export async function findingsSince(
  path: string | undefined,
): Promise<(events: readonly Event[]) => Promise<Findings>> {
  if (path === undefined) return async events => ({ findings: leaksIn(events) });
  const readTail = async (file: FileHandle, size: number) => {
    const length = Math.min(size, TAIL);
    return { start: size, tail: await bytesOf(file, size - length, length) };
  };
  const { start, tail } = (await withFile(path, readTail)) ?? { start: 0, tail: NOTHING };
  const readAdded = async (file: FileHandle, size: number) => {
    const isSame = tail.equals(await bytesOf(file, start - tail.length, tail.length));
    const from = isSame ? start : 0;
    const bytes = await bytesOf(file, from, Math.min(size - from, MAX_PART));
    return { text: bytes.toString('utf8'), isWhole: isSame && from + bytes.length === size };
  };
  return async events => {
    const part = await withFile(path, readAdded);
    if (!part) {
      const warning = `cannot read ${path}: it was not written, or is not a file that may be read`;
      // A runtime that writes no log names no operation in it.
      return { findings: [...leaksIn(events), { saw: 'log', operations: [], isWhole: true }], warning };
    }
    const operations = calledIn(events).filter(name => hasWord(part.text, name));
    const findings = [
      ...leaksIn(events, part.text),
      { saw: 'log', operations, isWhole: part.isWhole } as const,
    ];
    if (part.isWhole) return { findings };
    const warning = `only a part of ${path} was read: it is too long, or the runtime began it anew`;
    return { findings, warning };
  };
}

/** Opens the file; null unless it is a regular one: reading a pipe could wait forever. */
async function withFile<Result>(
  path: string,
  work: (file: FileHandle, size: number) => Promise<Result>,
): Promise<Result | null> {
  const there = await stat(path).catch(() => null);
  const file = there?.isFile() ? await open(path).catch(() => null) : null;
  if (!there || !file) return null;
  try {
    return await work(file, there.size);
  } finally {
    await file.close();
  }
}

async function bytesOf(file: FileHandle, from: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, from);
  return buffer.subarray(0, bytesRead);
}

/** Maximum number of leaks reported per place, and maximum length of their texts in characters. */
const MAX_LEAKS = 3;
const MAX_LEAK = 300;

function leaksIn(events: readonly Event[], log = ''): readonly Finding[] {
  const secrets = [...new Set(events.flatMap(consentSecrets))];
  if (secrets.length === 0) return [];
  const places = [
    ['model', textsFor('model', events)],
    ['failure', textsFor('failure', events)],
    ['log', log.split('\n')],
  ] as const;
  return places.flatMap(([where, texts]) =>
    texts
      .filter(text => secrets.some(secret => text.includes(secret)))
      .slice(0, MAX_LEAKS)
      .map(text => {
        const safe = secrets.reduce((rest, secret) => rest.replaceAll(secret, REDACTED), text);
        return { saw: 'leak', where, text: cutBeforeToken(safe, MAX_LEAK) } as const;
      }),
  );
}

function textsFor(who: 'model' | 'failure', events: readonly Event[]): readonly string[] {
  return events.flatMap(event => {
    if (event.kind !== 'driver' || !event.body?.json.ok || valueAt(event.body.json.value, 'saw') !== who)
      return [];
    return String(valueAt(event.body.json.value, 'text'));
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
