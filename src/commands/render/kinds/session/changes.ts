import { type Changes, changesSchema } from '../../../../protocol/session/changes.js';
import { validate } from '../../../../protocol/validate.js';
import { changesLines, pendingIn } from '../../../../story/saved/changes-lines.js';
import { linesSection } from '../../sheet.js';
import type { Kind, Saved } from '../kind.js';

/** What an agent session says when it is asked what is new. */
export const changesKind: Kind = {
  name: 'changes of an agent session',
  dialect: 'session',
  keys: ['status', 'started_at', 'finished_at', 'error', 'answer', 'metrics', 'new_events'],
  isMeant: ({ status, ...rest }) =>
    typeof status === 'string' && ('new_events' in rest || 'started_at' in rest || 'finished_at' in rest),
  async read({ value }) {
    const checked = validate(changesSchema, value);
    return checked.ok ? { ok: true, saved: savedChanges(checked.value, value) } : checked;
  },
};

function savedChanges(changes: Changes, native: unknown): Saved {
  return {
    sections: () => changesLines(changes).map(linesSection),
    report: () => ({ kind: 'changes', message: native, pending: pendingIn(changes), warnings: [] }),
    faults: [],
  };
}
