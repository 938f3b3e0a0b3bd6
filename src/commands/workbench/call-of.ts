import { randomUUID } from 'node:crypto';
import type { Invocation } from '../../protocol/invocation.js';
import type { Draft } from '../../ui/workbench/controls.js';
import type { Manners } from './manners.js';

/** A draft as a call of its own, in the thread of all calls, or in a fresh one where none was named (RT-ID). */
export function callOf(
  { operation, arguments: args }: Draft,
  { groupId, userId, ancestors }: Pick<Manners, 'groupId' | 'userId' | 'ancestors'>,
): Omit<Invocation, 'callback_url'> {
  return {
    operation,
    arguments: { ...args },
    id: `call_${randomUUID()}`,
    call_id: null,
    group_id: groupId ?? `thread_${randomUUID()}`,
    ...(ancestors.length > 0 && { thread_ancestors: [...ancestors] }),
    ...(userId !== null && { user_id: userId }),
  };
}
