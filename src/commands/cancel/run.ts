import { ProtocolCliError } from '../../errors.js';
import type { ExitStatus } from '../exit-status.js';
import type { NoticeOptions } from '../notices/options.js';
import { runNotices, sendNotices } from '../notices/run.js';
import { serversAt, urlOf } from '../notices/servers.js';
import type { Terminal } from '../terminal.js';

export interface CancelOptions extends NoticeOptions {
  readonly groupId: string;
  readonly id: string;
}

/** `cancel`: one notice, to the server meant or to every one there is. */
export function runCancel(
  word: string | undefined,
  options: CancelOptions,
  terminal: Terminal,
): Promise<ExitStatus> {
  const { groupId: thread_id, id: tool_call_id } = options;
  return runNotices(options, terminal, async desk => {
    const url = word === undefined ? null : urlOf(word);
    if (thread_id === '' || tool_call_id === '')
      throw new ProtocolCliError('usage', '--group-id and --id cannot be empty');
    const { servers, notes } = await serversAt(url, options, terminal);
    notes.forEach(desk.telling.warn);
    await sendNotices(desk, servers, [{ kind: 'cancel', message: { thread_id, tool_call_id } }]);
  });
}
