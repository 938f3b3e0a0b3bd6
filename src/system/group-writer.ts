import type { FileHandle } from 'node:fs/promises';
import { unwritable } from './private-file.js';

export interface GroupWriterOptions {
  readonly path: string;
  readonly file: FileHandle;
  /** Where in the file to go on, in bytes. */
  readonly position: number;
  /** Waits for the disk, too. */
  readonly sync: boolean;
}

/** While a disk fails, so much is held back for it. Beyond that something would be missing in the middle, and nothing is kept any more. */
const MOST_HELD_BACK = 64 * 1024 * 1024;

/** Appends text to a file, all that came during one write with the next: a thousand callers wait for a few writes. */
export class GroupWriter {
  readonly #options: GroupWriterOptions;
  #position: number;
  #queued = '';
  /** Of a group that could not be written: it comes again first, at the same place. */
  #held: Uint8Array = new Uint8Array(0);
  #next: Promise<void> | null = null;
  #current: Promise<void> = Promise.resolve();
  #isWriting = false;
  #isFailing = false;
  #isLossy = false;
  #failure: Error | null = null;

  constructor(options: GroupWriterOptions) {
    this.#options = options;
    this.#position = options.position;
  }

  /** The first that ever happened, were it only for a while. */
  get failure(): Error | null {
    return this.#failure;
  }

  add(text: string): void {
    this.#isLossy ||= this.#isFailing && this.#held.length + this.#queued.length > MOST_HELD_BACK;
    if (this.#isLossy) return;
    this.#queued += text;
    this.#group();
  }

  /** Resolves once all that was added is written. Rejects where it could not be; asked again, it tries again. */
  kept(): Promise<void> {
    const isLeft = this.#held.length > 0 && !this.#isWriting;
    return this.#next ?? (isLeft ? this.#group() : this.#current);
  }

  /** The next write, after the one under way. */
  #group(): Promise<void> {
    if (this.#next) return this.#next;
    const write = () => this.#write();
    const next = this.#current.then(write, write);
    next.catch(() => {}); // whoever awaits `kept()` hears of it
    this.#next = next;
    return next;
  }

  async #write(): Promise<void> {
    this.#current = this.#next ?? this.#current;
    this.#next = null;
    this.#isWriting = true;
    const fresh = Buffer.from(this.#queued);
    this.#queued = '';
    this.#held = this.#held.length > 0 ? Buffer.concat([this.#held, fresh]) : fresh;
    try {
      await this.#append(this.#held);
      this.#held = new Uint8Array(0);
      this.#isFailing = false;
    } catch (cause) {
      this.#isFailing = true;
      const failure = unwritable(this.#options.path, cause);
      this.#failure ??= failure;
      throw failure;
    } finally {
      this.#isWriting = false;
    }
  }

  async #append(bytes: Uint8Array): Promise<void> {
    const { file, sync } = this.#options;
    if (this.#isLossy) throw new Error('too much could not be written');
    for (let done = 0; done < bytes.length; )
      done += (await file.write(bytes, done, bytes.length - done, this.#position + done)).bytesWritten;
    if (sync) await file.datasync();
    this.#position += bytes.length;
  }
}
