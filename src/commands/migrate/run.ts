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
import { urlOf } from '../notices/servers.js';
import type { Terminal } from '../terminal.js';

export interface MigrateOptions extends NoticeOptions {
  readonly force?: boolean;
}

export interface MigrateWords {
  readonly url: string;
  readonly session: string;
  readonly destination: string;
}

/** `migrate`: discovers the toolset, and sends the notice where it says that there is a state to move (TOOL-MIGRATE). */
export function runMigrate(
  words: MigrateWords,
  options: MigrateOptions,
  terminal: Terminal,
): Promise<ExitStatus> {
  return runNotices(options, terminal, async desk => {
    const url = urlOf(words.url);
    const message = messageOf(words);
    const credentials = readCredentials(options, url, terminal.env);
    const { base, toolset, notes } = await discover({ ...desk, credentials }, url);
    for (const note of notes) desk.telling.warn({ id: 'TOOL-DISCOVER', message: note });
    if (!toolset.needsMigration) checkForced(toolset, options, desk);
    await sendNotices(desk, [{ base, credentials }], [{ kind: 'migrate', message }]);
  });
}

function messageOf({ session, destination }: MigrateWords): Migrate {
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
