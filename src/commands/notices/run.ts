import { ProtocolCliError } from '../../errors.js';
import { createLog, type Log } from '../../exchange/log.js';
import { type Notice, notify } from '../../runtime/notices.js';
import { systemClock } from '../../system/clock.js';
import type { HttpClient } from '../../transport/client.js';
import { createNodeClient } from '../../transport/node-client.js';
import type { ExitStatus } from '../exit-status.js';
import { stoppable } from '../interruption.js';
import type { Terminal } from '../terminal.js';
import type { NoticeOptions } from './options.js';
import type { Server } from './servers.js';
import { type NoticeTelling, noticeTelling } from './telling.js';

/** What a command needs to send notices. */
export interface NoticeDesk {
  readonly options: NoticeOptions;
  readonly terminal: Terminal;
  readonly telling: NoticeTelling;
  readonly client: HttpClient;
  readonly log: Log;
}

/**
 * A command that sends notices, from its preparation to the exit status. Whoever asked for an object gets one, however early it
 * failed; a signal ends it at once.
 */
export function runNotices(
  options: NoticeOptions,
  terminal: Terminal,
  work: (desk: NoticeDesk) => Promise<void>,
): Promise<ExitStatus> {
  return stoppable(async onStop => {
    const client = createNodeClient();
    onStop(() => client.close());
    const telling = noticeTelling(options, terminal);
    try {
      await work({ options, terminal, telling, client, log: createLog(systemClock.now) });
    } catch (error) {
      if (error instanceof ProtocolCliError) return telling.end(error);
      throw error;
    }
    return telling.end();
  });
}

/** Every notice to every server, all at once and each once: one that fails keeps none of the others (RT-NOTIFY). */
export async function sendNotices(
  desk: NoticeDesk,
  servers: readonly Server[],
  notices: readonly Notice[],
): Promise<void> {
  await Promise.all(servers.flatMap(server => notices.map(notice => sendNotice(desk, server, notice))));
}

async function sendNotice(
  { client, log, options, telling }: NoticeDesk,
  { base, credentials }: Server,
  notice: Notice,
): Promise<void> {
  const begun = systemClock.now();
  const answer = await notify({ client, log, credentials }, base, notice, { timeoutMs: options.timeout });
  await telling.sent({ base, notice, answer, ms: Math.round((systemClock.now() - begun) * 1_000) / 1_000 });
}
