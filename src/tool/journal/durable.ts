import * as fs from 'node:fs/promises';
import type { Event } from '../../exchange/events.js';
import type { GroupKeeper } from '../../exchange/log.js';
import type { Files } from '../../system/files.js';
import { GroupWriter } from '../../system/group-writer.js';
import { createPrivateFile, openToAppend } from '../../system/private-file.js';
import { compacted, type Writing } from './compact.js';
import { checkedLine } from './journal-format.js';
import { readJournal } from './journal-reader.js';
import { JournalWriter } from './journal-writer.js';
import { takeLock } from './lock.js';
import type { Recovery } from './recovery.js';

export interface JournalOptions extends Writing {
  readonly path: string;
  /** Waits for the disk, too: then it survives a power failure, not only a kill, at about half the throughput. */
  readonly sync?: boolean;
  /** node:fs unless told. */
  readonly files?: Files;
}

/** Keeps every event in a file, so that what was acknowledged survives a kill: `log.keep(journal)`. */
export interface Journal extends GroupKeeper {
  /** The first failure to write, were it only for a while: then the process must not end with 0. */
  readonly failure: Error | null;
  /** The next run does not remember: counts and states of one key, or all of them and the calls that are over. */
  reset(key?: string): void;
  /** Writes what is left, and lets others have the file; what comes later is not kept. What cannot be written is in `failure`. */
  close(): Promise<void>;
}

/**
 * Opens a journal and says what the runs before left. What is over is taken out of the file first, in one step (threats, rows 26 and 27),
 * so that it does not grow for ever.
 * @throws ProtocolCliError `unreadable-file` where it is no journal, is damaged, or another process writes it; `unwritable-file`.
 */
export async function openJournal(
  options: JournalOptions,
): Promise<{ readonly journal: Journal; readonly recovery: Recovery }> {
  const { path, files = fs, sync = false } = options;
  const release = await takeLock(path);
  try {
    const recovery = await readJournal(path, files);
    await rewrite(recovery, options, files);
    const file = await openToAppend(path, files);
    const { size: position } = await file.stat();
    const writer = new GroupWriter({ path, file, position, sync });
    const close = async () => {
      await writer.kept().catch(() => {}); // `failure` says it
      await file.close().finally(release);
    };
    return { journal: new DurableJournal(writer, close), recovery };
  } catch (error) {
    await release();
    throw error;
  }
}

class DurableJournal implements Journal {
  readonly #lines = new JournalWriter();
  #isClosed = false;

  constructor(
    private readonly writer: GroupWriter,
    private readonly release: () => Promise<void>,
  ) {}

  get failure(): Error | null {
    return this.writer.failure;
  }

  /** What an earlier run said is there already. */
  take(event: Event): void {
    if (this.#isClosed || event.earlier) return;
    this.writer.add(this.#lines.event(event));
  }

  kept(): Promise<void> {
    return this.writer.kept();
  }

  reset(key?: string): void {
    if (!this.#isClosed) this.writer.add(checkedLine({ kind: 'reset', ...(key !== undefined && { key }) }));
  }

  close(): Promise<void> {
    this.#isClosed = true;
    return this.release();
  }
}

async function rewrite(recovery: Recovery, options: JournalOptions, files: Files): Promise<void> {
  const file = await createPrivateFile(options.path, files);
  try {
    for (const text of compacted(recovery, options)) await file.write(text.slice(0, -1));
  } catch (error) {
    await file.discard();
    throw error;
  }
  await file.commit();
}
