import { ProtocolCliError } from '../../errors.js';
import { type Migrate, migrateSchema } from '../../protocol/notices.js';
import type { Toolset } from '../../protocol/toolset.js';
import { validate } from '../../protocol/validate.js';
import { discover } from '../../runtime/discover.js';
import { visibleLine } from '../../text/visible.js';
import type { ExitStatus } from '../exit-status.js';
import { readCredentials } from '../headers.js';
import type { NoticeOptions } from '../notices/options.js';
import { type NoticeDesk, runNotices, sendNotices } from '../notices/run.js';
import { type Server, serversAt, urlOf } from '../notices/servers.js';
import type { Terminal } from '../terminal.js';

export interface MigrateOptions extends NoticeOptions {
  readonly force?: boolean;
}

/** `migrate`: discovers each toolset, and sends the notice where it says that there is state to move (TOOL-MIGRATE). */
export function runMigrate(
  words: readonly string[],
  options: MigrateOptions,
  terminal: Terminal,
): Promise<ExitStatus> {
  return runNotices(options, terminal, async desk => {
    const [destination = '', session = '', url] = [...words].reverse();
    if (words.length < 2 || words.length > 3)
      throw new ProtocolCliError('usage', `expected a session and a destination, got: ${words.join(' ')}`, {
        hint: 'protocol-cli migrate [url] <session> <destination>',
      });
    const base = url === undefined ? null : urlOf(url);
    const message = messageOf(session, destination);
    if (base !== null) {
      const { server, toolset } = await load(desk, {
        base,
        credentials: readCredentials(options, base, terminal.env),
      });
      if (!toolset.needsMigration) checkForced(toolset, options, desk);
      await sendNotices(desk, [server], [{ kind: 'migrate', message }]);
      return;
    }
    const { servers, notes } = await serversAt(null, options, terminal);
    notes.forEach(desk.telling.warn);
    const found = await Promise.allSettled(servers.map(each => load(desk, each)));
    const migrating = found.flatMap(each => (each.status === 'fulfilled' ? [each.value] : []));
    const wanted = migrating.filter(({ toolset }) => toolset.needsMigration || options.force);
    await sendNotices(
      desk,
      wanted.map(({ server }) => server),
      [{ kind: 'migrate', message }],
    );
    const failures = found.flatMap(each => (each.status === 'rejected' ? [each.reason as unknown] : []));
    refuseIncomplete(failures, wanted.length);
  });
}

/** @throws ProtocolCliError for servers that could not be asked, or where none has state to move. */
function refuseIncomplete(failures: readonly unknown[], sent: number): void {
  const [first] = failures;
  if (first !== undefined && !(first instanceof ProtocolCliError)) throw first;
  if (first) {
    const messages = failures.map(each => (each instanceof Error ? each.message : String(each)));
    throw new ProtocolCliError(first.code, 'not every configured server could be asked', {
      faults: messages,
    });
  }
  if (sent === 0)
    throw new ProtocolCliError('usage', 'no configured toolset says needsMigration (TOOL-MIGRATE)', {
      hint: 'Nothing was sent. --force sends it to every configured server.',
    });
}

async function load(desk: NoticeDesk, server: Server) {
  const { base, toolset, notes } = await discover({ ...desk, credentials: server.credentials }, server.base);
  for (const note of notes) desk.telling.warn({ id: 'TOOL-DISCOVER', message: note });
  return { server: { base, credentials: server.credentials }, toolset };
}

function messageOf(session: string, destination: string): Migrate {
  if (session === '') throw new ProtocolCliError('usage', 'the id of the session cannot be empty');
  const checked = validate(migrateSchema, { session_id: session, destination_url: destination });
  if (checked.ok) return checked.value;
  throw new ProtocolCliError('usage', `the destination ${destination} cannot be used`, {
    faults: checked.faults,
    hint: 'Give it whole, as the tool will reach it: https://other.example:3001.',
  });
}

/** @throws ProtocolCliError `usage`: what is not asked for, nobody promised to serve. */
function checkForced({ name }: Toolset, { force }: MigrateOptions, { telling }: NoticeDesk): void {
  const message = `the toolset ${visibleLine(name)} does not say needsMigration`;
  if (!force)
    throw new ProtocolCliError('usage', `${message}: it has no state to move (TOOL-MIGRATE)`, {
      hint: 'Nothing was sent. --force sends it all the same.',
    });
  telling.warn({ id: 'TOOL-MIGRATE', message: `${message}; it is sent all the same` });
}
