import type { Invocation } from '../../../protocol/invocation.js';
import { readInvocation } from '../../../protocol/read-invocation.js';
import { invocationLines, invocationSecrets } from '../../../story/saved/invocation-lines.js';
import { problemLines } from '../../../story/saved/problem-lines.js';
import { redactJson } from '../../../text/redact-json.js';
import { linesSection } from '../sheet.js';
import type { Kind, Saved } from './kind.js';

/** What a runtime POSTs to a tool's endpoint. */
export const invocationKind: Kind = {
  name: 'an invocation',
  dialect: 'rap',
  keys: [
    'operation',
    'arguments',
    'id',
    'call_id',
    'callback_url',
    'group_id',
    'thread_ancestors',
    'user_id',
  ],
  isMeant: value => 'operation' in value,
  async read(json) {
    const reading = readInvocation(json);
    if (!reading.ok) return reading;
    return { ok: true, saved: savedInvocation(reading.invocation, reading.notes) };
  },
};

function savedInvocation(invocation: Invocation, notes: readonly string[]): Saved {
  const warnings = notes.map(message => ({ message }));
  return {
    sections: ({ isPrivate }) => [
      linesSection(invocationLines(invocation, isPrivate)),
      linesSection(problemLines(warnings)),
    ],
    report: () => {
      const shareable = redactJson(JSON.stringify(invocation), invocationSecrets(invocation));
      return { kind: 'invocation', invocation: JSON.parse(shareable), warnings };
    },
    faults: [],
  };
}
