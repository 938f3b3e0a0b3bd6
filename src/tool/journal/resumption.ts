import { addresseeIn, readInvocation } from '../../protocol/read-invocation.js';
import type { Answers } from '../answers/answers.js';
import { type Plan, plain } from '../answers/plan.js';
import { type Desk, RapConversation } from '../conversation/rap-conversation.js';
import { typeOf } from '../delivery/callback.js';
import type { CallsUnderWay } from '../intake/calls-under-way.js';
import { carryOut } from '../intake/work.js';
import type { Recovered, Rendered } from './recovery.js';
import { retell } from './retell.js';

export interface ResumptionParts {
  readonly desk: Desk;
  readonly answers: Pick<Answers, 'plan' | 'planAgain'>;
  readonly underWay: CallsUnderWay;
  /** Our own base URL. */
  readonly base: string;
}

type CallPlanned = Omit<Parameters<Answers['plan']>[0], 'headers'>;

/**
 * Goes on with a call that was acknowledged before a restart: what was on its way goes out again, the same bytes, and then what
 * is left of its reply (threats, "Delivery faults").
 */
export async function resume(call: Recovered, parts: ResumptionParts): Promise<void> {
  const { desk, underWay, base } = parts;
  const reading = readInvocation(call.invocation.json);
  const addressee = addresseeIn(reading);
  if (!addressee) return;
  const callingOff = underWay.begin(call.key, call.thread);
  if (call.calledOff !== null) callingOff.callOff(call.calledOff);
  const caller = { key: call.key, addressee, base, callingOff };
  retell(call, desk.log);
  await postAgain(call, desk);
  if (isAtEnd(call)) return underWay.end(callingOff);
  const plan = reading.ok ? await planOf(call, { caller, ...reading }, parts).catch(failing) : null;
  const said = { callbacks: call.turn ? call.turn.index + 1 : 0, isAnswered: call.isAnswered };
  await carryOut(plan ?? insteadOf(call), new RapConversation(caller, desk, plan?.faultsOf, said), underWay);
}

/** Its result was said, and nothing was to follow; or nobody wants to hear that any more. */
function isAtEnd({ isAnswered, turn, calledOff }: Recovered): boolean {
  return isAnswered && (turn?.next === undefined || calledOff !== null);
}

/** Null where nobody can say what is left: what was asked is answered, if ever, at an address that is no more. */
async function planOf(call: Recovered, about: CallPlanned, parts: ResumptionParts): Promise<Plan | null> {
  const { matched, headers, turn, refusal, calledOff } = call;
  if (refusal !== null || calledOff !== null) return null;
  if (matched === null) return planAnew(call, about, parts);
  if (turn?.next === undefined && call.rendered.some(isQuestion)) return null;
  return parts.answers.planAgain({ ...about, headers }, matched, turn?.next ?? []);
}

/** As the intake would have, had it not been interrupted. */
async function planAnew({ key, thread, headers }: Recovered, about: CallPlanned, parts: ResumptionParts) {
  const plan = await parts.answers.plan({ ...about, headers }, 1);
  for (const fact of plan.facts) parts.desk.log.emit(Object.assign(fact, { calls: [key], thread }));
  return plan;
}

/** It was acknowledged: that it cannot be planned is said as any other failure of its work is (TOOL-ALWAYS). */
function failing(error: unknown): Plan {
  return plain([], () => Promise.reject(error));
}

const RESTARTED = 'the tool was restarted meanwhile; call again';

/** What is said where there is no plan. A call that was called off still owes a result, and that says so (TOOL-ALWAYS). */
function insteadOf({ refusal, calledOff }: Recovered): Pick<Plan, 'perform'> {
  const message = refusal ?? RESTARTED;
  return {
    perform: conversation =>
      calledOff === null ? conversation.outcome({ type: 'error', message }) : conversation.canceled(),
  };
}

async function postAgain({ key, thread, rendered }: Recovered, { outbox }: Desk): Promise<void> {
  for (const { url, body, contentType, turn, state } of rendered)
    if (state === 'waiting') await outbox.post({ key, thread, url, body, contentType, turn });
}

function isQuestion({ body }: Rendered): boolean {
  const type = typeOf(body);
  return type === 'oauth' || type === 'user_choice';
}
