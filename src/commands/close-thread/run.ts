import { ProtocolCliError } from '../../errors.js';
import type { Notice } from '../../runtime/notices.js';
import type { ExitStatus } from '../exit-status.js';
import type { NoticeOptions } from '../notices/options.js';
import { runNotices, sendNotices } from '../notices/run.js';
import { serversAt, splitWords } from '../notices/servers.js';
import type { Terminal } from '../terminal.js';

export interface CloseThreadOptions extends NoticeOptions {
  readonly groupId?: readonly string[];
}

/** `close-thread`: one notice for each thread, to the server meant or to every one there is. */
export function runCloseThread(
  words: readonly string[],
  options: CloseThreadOptions,
  terminal: Terminal,
): Promise<ExitStatus> {
  return runNotices(options, terminal, async desk => {
    const { url, rest } = splitWords(words);
    const notices = closing([...rest, ...(options.groupId ?? [])]);
    const { servers, notes } = await serversAt(url, options, terminal);
    notes.forEach(desk.telling.warn);
    await sendNotices(desk, servers, notices);
  });
}

function closing(threads: readonly string[]): Notice[] {
  if (threads.length === 0)
    throw new ProtocolCliError('usage', 'no thread is named', {
      hint: 'Threads come after the URL: protocol-cli close-thread <url> <thread>; or give --group-id.',
    });
  if (threads.includes('')) throw new ProtocolCliError('usage', 'the name of a thread cannot be empty');
  return [...new Set(threads)].map(thread_id => ({ kind: 'close', message: { thread_id } }));
}
