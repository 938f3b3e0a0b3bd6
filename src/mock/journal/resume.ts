import type { Fact } from '../../events/events.js';
import type { Log } from '../../events/log.js';
import { recordRequest } from '../../events/record-request.js';
import { endsCall } from '../../protocol/callbacks.js';
import { addresseeIn, readInvocation } from '../../protocol/read-invocation.js';
import type { Call } from '../conversation.js';
import type { MockState } from '../mock-state.js';
import { carryOut, type Plan, plain } from '../plan.js';
import { RapConversation } from '../rap-conversation.js';
import type { RecoveredCall } from './recovery.js';

type Resuming = Pick<MockState, 'log' | 'services' | 'openCalls'> & {
  readonly responder: Pick<MockState['responder'], 'plan' | 'planAgain'>;
};

/**
 * Goes on with a call that was acknowledged before a restart: callbacks under way are sent again, the same bytes, and then the rest of
 * its reply (threats, "Delivery faults").
 * @param base our own base URL
 */
export async function resume(call: RecoveredCall, state: Resuming, base: string): Promise<void> {
  const { services, openCalls } = state;
  const { key, thread, headers, rendered, turn, isAnswered, cancelReason } = call;
  const reading = readInvocation(call.invocation.json);
  const addressee = addresseeIn(reading);
  if (!addressee) return;
  const cancellation = openCalls.begin(key, thread);
  if (cancelReason !== null) cancellation.cancel(cancelReason);
  logEarlier(call, state.log);
  for (const { url, body, contentType, turn: of, state: delivery } of rendered)
    if (delivery === 'waiting') await services.outbox.post({ key, thread, url, body, contentType, turn: of });
  const isAtEnd = isAnswered && (turn?.next === undefined || cancelReason !== null);
  if (isAtEnd) return openCalls.end(cancellation);
  const caller = { key, addressee, base, cancellation };
  const plan = reading.ok
    ? await planOf(call, { caller, headers, invocation: reading.invocation }, state).catch(failing)
    : null;
  const sent = { callbacks: turn ? turn.index + 1 : 0, isAnswered };
  const conversation = new RapConversation(caller, services, plan?.faultsOf, sent);
  await carryOut(plan ?? substituteFor(call), conversation, openCalls);
}

/** Logs a call of an earlier run: its request, its fixture and its result. */
function logEarlier({ key, thread, invocation, headers, matched, rendered }: RecoveredCall, log: Log): void {
  const earlier = {
    ...log,
    emit: (fact: Fact) => log.emit({ ...fact, calls: [key], thread, earlier: true }),
  };
  const called = { from: 'runtime', to: 'tool', purpose: 'invocation', method: 'POST' } as const;
  recordRequest(earlier, { ...called, url: '', headers: { ...headers }, body: invocation });
  if (matched) earlier.emit({ ...matched });
  for (const { url, body, state, type } of rendered)
    if (state === 'delivered' && endsCall(type)) {
      const sent = { from: 'tool', to: 'runtime', purpose: 'callback', method: 'POST' } as const;
      recordRequest(earlier, { ...sent, url, headers: {}, body }).answered(200);
    }
}

/** Null if the rest is unknown: an answer to an open question would arrive at an address that no longer exists. */
async function planOf(
  { matched, turn, refusal, cancelReason, rendered }: RecoveredCall,
  call: Call,
  { responder, log }: Resuming,
): Promise<Plan | null> {
  if (refusal !== null || cancelReason !== null) return null;
  if (matched === null) {
    const plan = await responder.plan(call); // as the intake would have, had it not been interrupted
    const { key, addressee } = call.caller;
    for (const fact of plan.facts)
      log.emit(Object.assign(fact, { calls: [key], thread: addressee.group_id }));
    return plan;
  }
  const hasAsked = rendered.some(({ type = '' }) => ['oauth', 'user_choice'].includes(type));
  if (turn?.next === undefined && hasAsked) return null;
  return responder.planAgain(call, matched, turn?.next ?? []);
}

/** It was acknowledged: that it cannot be planned is reported as any other failure of its work (TOOL-ALWAYS). */
function failing(error: unknown): Plan {
  return plain([], () => Promise.reject(error));
}

/** Without a plan the call ends in an error; a canceled call in a result that says so (TOOL-ALWAYS). */
function substituteFor({ refusal, cancelReason }: RecoveredCall): Plan {
  const message = refusal ?? 'the tool was restarted; call again';
  return plain([], conversation =>
    cancelReason === null ? conversation.outcome({ type: 'error', message }) : conversation.canceled(),
  );
}
