import { isRecord } from '../../text/is-record.js';
import type { Plan } from '../answers/plan.js';
import type { Conversation } from '../conversation/conversation.js';
import { withoutPaths } from '../conversation/without-paths.js';
import type { CallsUnderWay } from './calls-under-way.js';

const NO_LAST_EVENT =
  'nothing more is planned, and its subscription has had no last event: it is open until somebody cancels it';

type Performed = Pick<Plan, 'perform' | 'words' | 'isOpenEnded'>;

/**
 * Does what was planned for a call, after its acknowledgement (TOOL-ASYNC). However that goes, the call ends in a result
 * (TOOL-ALWAYS): what is thrown on the way becomes its message, never a stack nor a path (TOOL-NOLEAK), and without secrets
 * (TOOL-SECRET). Never rejects.
 */
export async function work(plan: Performed, conversation: Conversation): Promise<void> {
  try {
    await plan.perform(conversation);
    if (!conversation.isAnswered) await conclude(conversation);
    if (!plan.isOpenEnded && conversation.goesOn) conversation.warn(NO_LAST_EVENT);
  } catch (error) {
    const message = tellable(messageOf(error), plan);
    conversation.warn(`the call failed: ${message}`);
    conversation.goesOnAt(undefined);
    if (conversation.isCancelled) await conversation.canceled();
    else if (!conversation.isAnswered)
      await conversation.outcome({ type: 'error', message: withoutPaths(message) });
  } finally {
    if (!plan.isOpenEnded || !conversation.goesOn) conversation.close();
  }
}

/** {@link work} on a call that is under way, and it stays so while events may follow: they can be called off, but not waited for. */
export async function carryOut(
  plan: Performed,
  conversation: Conversation,
  underWay: CallsUnderWay,
): Promise<void> {
  const { callingOff } = conversation.caller;
  try {
    await work(plan, conversation);
    if (conversation.isClosed) return;
    underWay.rest(callingOff);
    await conversation.over();
    conversation.close();
  } finally {
    underWay.end(callingOff);
  }
}

/** Where even to look for secrets fails, nothing is told. */
function tellable(message: string, { words }: Pick<Plan, 'words'>): string {
  try {
    return words ? words(message) : message;
  } catch {
    return 'the tool failed';
  }
}

/** Whatever was thrown: it may be anything. */
function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message || error.name;
  if (isRecord(error) && typeof error['message'] === 'string') return error['message'];
  return typeof error === 'object' || typeof error === 'function' ? 'the tool failed' : String(error);
}

function conclude(conversation: Conversation): Promise<void> {
  if (conversation.isCancelled) return conversation.canceled();
  return conversation.outcome({ type: 'error', message: 'the tool ended without a result' });
}
