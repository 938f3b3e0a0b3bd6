import { constants, writeSync } from 'node:fs';
import * as fs from 'node:fs/promises';
import { LIMITS } from '../util/limits.js';
import type { Files } from './atomic-file.js';
import { withWriteErrors, writeError } from './file-system-errors.js';

interface AppendWriterOptions {
  readonly path: string;
  readonly file: fs.FileHandle;
  /** Where the file ends. */
  readonly position: number;
}

/** Appends text to a file; everything added during one write is written by the next one. */
export class AppendWriter {
  #position: number;
  #queued = '';
  /** What is being written at the position. */
  #writing: Uint8Array = new Uint8Array(0);
  /** The write that begins after the current one. */
  #next: Promise<void> | null = null;
  #current: Promise<void> = Promise.resolve();
  /** Whether the last write failed. `lossy` is final: too much was queued during a failure, and some of it was dropped. */
  #state: 'working' | 'failing' | 'lossy' = 'working';
  #failure: Error | null = null;

  constructor(private readonly options: AppendWriterOptions) {
    this.#position = options.position;
  }

  /**
   * Opens an existing file; does not follow a link (threats, row 26).
   * @throws ProtocolCliError `unwritable-file`.
   */
  static async open(path: string, files: Pick<Files, 'open'> = fs): Promise<AppendWriter> {
    const open = () => files.open(path, constants.O_WRONLY | constants.O_NOFOLLOW);
    const file = await withWriteErrors(path, open);
    const { size: position } = await file.stat();
    return new AppendWriter({ path, file, position });
  }

  /** The first failure, even if a later write succeeded. */
  get failure(): Error | null {
    return this.#failure;
  }

  add(text: string): void {
    if (this.#state === 'failing' && this.#queued.length > LIMITS.outputChars.value) this.#state = 'lossy';
    if (this.#state === 'lossy') return; // the file would have a gap
    this.#queued += text;
    void this.written();
  }

  /** Resolves when everything added is written; rejects if that failed. A new call tries again. */
  written(): Promise<void> {
    if (this.#queued === '') return this.#current;
    if (!this.#next) {
      const write = () => this.#write();
      this.#next = this.#current.then(write, write);
      this.#next.catch(() => {}); // callers that need the result use `written`
    }
    return this.#next;
  }

  /** Writes what is left, before a forced end of this process: bytes on their way are written again, to the same place. */
  finishSync(): void {
    const left = Buffer.concat([this.#writing, Buffer.from(this.#queued)]);
    for (let done = 0; done < left.length; )
      done += writeSync(this.options.file.fd, left, done, left.length - done, this.#position + done);
  }

  /** Closes the file; what has not been written is lost. */
  async close(): Promise<void> {
    await this.options.file.close();
  }

  async #write(): Promise<void> {
    this.#current = this.#next ?? this.#current;
    this.#next = null;
    const bytes = Buffer.from(this.#queued);
    this.#queued = '';
    this.#writing = bytes;
    try {
      await this.#append(bytes);
      this.#position += bytes.length;
      if (this.#state === 'failing') this.#state = 'working';
    } catch (cause) {
      if (this.#state === 'working') this.#state = 'failing';
      this.#queued = bytes.toString() + this.#queued; // is written first, at the same offset
      const failure = writeError(this.options.path, cause);
      this.#failure ??= failure;
      throw failure;
    } finally {
      this.#writing = new Uint8Array(0);
    }
  }

  async #append(bytes: Uint8Array): Promise<void> {
    const { file } = this.options;
    if (this.#state === 'lossy') throw new Error('too much could not be written');
    for (let done = 0; done < bytes.length; )
      done += (await file.write(bytes, done, bytes.length - done, this.#position + done)).bytesWritten;
  }
}
