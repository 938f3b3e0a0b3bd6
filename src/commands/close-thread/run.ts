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
    if (url === null) refuseSwapped(rest);
    const notices = closing([...rest, ...(options.groupId ?? [])]);
    const { servers, notes } = await serversAt(url, options, terminal);
    notes.forEach(desk.telling.warn);
    await sendNotices(desk, servers, notices);
  });
}

/** A thread may be called anything; what looks like this is a server that was named too late. */
function refuseSwapped(threads: readonly string[]): void {
  const url = threads.find(word => /^(https?:\/\/|:\d)/i.test(word));
  if (url === undefined) return;
  const others = threads.filter(word => word !== url);
  throw new ProtocolCliError('usage', `"${url}" stands where a thread is named`, {
    hint: `The URL comes first: protocol-cli close-thread ${[url, ...others].join(' ')}. For a thread of that name there is --group-id.`,
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
