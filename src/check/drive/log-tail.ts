import { type FileHandle, open, stat } from 'node:fs/promises';
import { LIMITS } from '../../util/limits.js';

/** How many bytes at the end of a log are compared later, to detect that the runtime truncated it. */
const TAIL = 256;

const NOTHING = Buffer.alloc(0);

/** What was appended to a file. */
export interface AppendedText {
  readonly text: string;
  /** False if it is too long, or if the file was truncated meanwhile. */
  readonly isWhole: boolean;
}

/** Remembers where a file ends. Returns a function that reads what was appended since; null if the file cannot be read. */
export async function rememberEnd(path: string): Promise<() => Promise<AppendedText | null>> {
  const readTail = async (file: FileHandle, size: number) => {
    const length = Math.min(size, TAIL);
    return { start: size, tail: await bytesOf(file, size - length, length) };
  };
  const { start, tail } = (await withFile(path, readTail)) ?? { start: 0, tail: NOTHING };
  const readAppended = async (file: FileHandle, size: number) => {
    const isSame = tail.equals(await bytesOf(file, start - tail.length, tail.length));
    const from = isSame ? start : 0;
    const bytes = await bytesOf(file, from, Math.min(size - from, LIMITS.runtimeLogBytes.value));
    return { text: bytes.toString('utf8'), isWhole: isSame && from + bytes.length === size };
  };
  return () => withFile(path, readAppended);
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
