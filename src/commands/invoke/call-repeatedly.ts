import { randomUUID } from 'node:crypto';
import type { Exchange } from '../../exchange/exchange.js';
import type { Trouble } from '../../reporters/reporter.js';
import { failureOf } from '../../story/failure.js';
import type { ExitStatus } from '../exit-status.js';
import { answeringByFlag, isLeftByFlag } from './choices.js';
import type { Denial } from './consent.js';
import { converse } from './converse.js';
import { type Finish, statusOfCall } from './finish.js';
import { notesOf } from './notes.js';
import { address, cancelWhenInterrupted, type Opened, type Setting } from './opening.js';
import type { Identity, InvokePlan } from './plan.js';
import { takeLeave } from './take-leave.js';

/** From the one that says most about the tool to the one that says least. */
const WORST_FIRST: readonly ExitStatus[] = [4, 7, 6, 5, 0];

/** `--repeat`: the same call many times, some of them side by side, each told as it ends. A quick look at what gets mixed up. */
export async function callRepeatedly(setting: Setting, opened: Opened): Promise<Finish> {
  const { plan, interrupted } = setting;
  const { repeat = 1, concurrency = 1 } = plan.options;
  if (opened.denial)
    return { exchange: undefined, trouble: null, status: await deny(setting, opened, opened.denial) };
  const statuses = new Set<ExitStatus>();
  let begun = 0;
  const worker = async () => {
    while (begun < repeat && !interrupted.signal.aborted) {
      begun++;
      statuses.add(await callOne(setting, opened));
    }
  };
  const workers = Array.from({ length: Math.min(concurrency, repeat) }, worker);
  const failed = (await Promise.allSettled(workers)).find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
  return { exchange: undefined, trouble: unmade(repeat - begun, repeat), status: worstOf(statuses) };
}

/** Somebody interrupted it before all calls were made. */
function unmade(count: number, of: number): Trouble | null {
  const were = count === 1 ? 'call was' : 'calls were';
  return count === 0
    ? null
    : { code: 'interrupted', message: `interrupted: ${count} of ${of} ${were} not made` };
}

/** What is not allowed is told once, as the outcome of a call that was not made. */
async function deny(setting: Setting, opened: Opened, denial: Denial): Promise<ExitStatus> {
  const exchange = opened.runtime.deny(address(setting, opened, anotherIdentity(setting.plan)), denial);
  return tell(setting, opened, exchange);
}

async function callOne(setting: Setting, opened: Opened): Promise<ExitStatus> {
  const { choose, close: closes = true } = setting.plan.options;
  const { wire, base } = opened.prepared;
  const identity = anotherIdentity(setting.plan);
  const invocation = address(setting, opened, identity);
  const stopCancelling = cancelWhenInterrupted(setting, invocation.id);
  const exchange = await converse(setting, opened, invocation, {
    answering: answeringByFlag(choose),
    leave: pending => isLeftByFlag(pending, choose),
  });
  stopCancelling();
  const status = await tell(setting, opened, exchange);
  const { isOurThread } = identity;
  await takeLeave(exchange, { wire, base, isOurThread, closes, listenOn: async () => {} });
  return status;
}

async function tell(setting: Setting, { prepared }: Opened, exchange: Exchange): Promise<ExitStatus> {
  const { history, reporter } = setting.observation;
  const trouble = askingNobody(setting.servers.explain(failureOf(exchange, history.errands)));
  const notes = notesOf(setting.plan, prepared);
  await reporter.settled?.({ history, exchange, notes, trouble });
  return statusOfCall(exchange, trouble);
}

/** A person may sit there, and is not asked the same many times over. */
function askingNobody(failure: Trouble | null): Trouble | null {
  if (failure?.code !== 'decision-needed') return failure;
  return { ...failure, message: `${failure.message}; --repeat asks nobody, --choose answers` };
}

function worstOf(statuses: ReadonlySet<ExitStatus>): ExitStatus {
  const [other] = [...statuses].filter(status => !WORST_FIRST.includes(status));
  return WORST_FIRST.find(status => statuses.has(status)) ?? other ?? 0;
}

/** Each call has an id of its own; and a thread of its own, unless one was named for all. */
function anotherIdentity({ identity }: InvokePlan): Identity {
  return {
    ...identity,
    id: `call_${randomUUID()}`,
    ...(identity.isOurThread && { groupId: `thread_${randomUUID()}` }),
  };
}
