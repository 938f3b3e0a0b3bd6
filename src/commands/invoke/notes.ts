import type { Warning } from '../../protocol/requirements.js';
import { isWildcard } from '../../transport/server.js';
import type { InvokePlan } from './plan.js';
import type { Prepared } from './prepare.js';

/** What the command itself has to warn of, as far as it got. */
export function notesOf(plan: InvokePlan, prepared: Pick<Prepared, 'notes'> | undefined): readonly Warning[] {
  return [...ownNotes(plan), ...(prepared?.notes ?? [])];
}

/** What the options themselves are worth a warning for (threats, row 5). */
function ownNotes({ listener: { host } }: InvokePlan): readonly Warning[] {
  if (!isWildcard(host)) return [];
  return [{ message: `the callback listener is open to the network (--callback-host ${host})` }];
}
