import { InvalidArgumentError } from 'commander';
import type { CallIds } from '../../runtime/foreign-calls.js';

/** `--expect <group_id>/<id>`; the last slash parts them. */
export function expectation(text: string, before: readonly CallIds[] = []): readonly CallIds[] {
  const slash = text.lastIndexOf('/');
  const ids = { groupId: text.slice(0, Math.max(0, slash)), id: text.slice(slash + 1) };
  if (ids.groupId === '' || ids.id === '')
    throw new InvalidArgumentError('It takes a group_id and an id: thread_1/call_1.');
  return [...before, ids];
}
