import { randomUUID } from 'node:crypto';
import { type Exchange, isOpen, outcomeOf } from '../../events/exchange.js';
import type { HttpClient } from '../../http/client.js';
import { isWildcard } from '../../http/server.js';
import type { Invocation } from '../../protocol/read-invocation.js';
import type { Warning } from '../../protocol/requirements.js';
import { failureOf } from '../../render/failure.js';
import type { Trouble } from '../../render/outputs/reporter.js';
import { cancelToolCall, closeThread, type Wire } from '../../runtime/notices.js';
import { asksForAnnotations } from '../../runtime/policy.js';
import { type Answering, Runtime } from '../../runtime/runtime.js';
import type { Clock } from '../../system/drafts.js';
import { ProtocolCliError } from '../../util/errors.js';
import type { StartedServers } from '../started-server.js';
import {
  type ExitStatus,
  type Interruption,
  isSomebodyThere,
  type OnStop,
  statusOfFailure,
  statusOfOutcome,
  type Terminal,
} from '../terminal.js';
import type { Observation } from './output.js';
import type { Identity, InvokeOptions, InvokePlan, Stage } from './plan.js';
import { type Prepared, prepare } from './prepare.js';
import { answeringByFlag, type Denial, denialOf, isLeftByFlag, loadPolicy } from './questions.js';

/** What a run happens in: who looks on, who may interrupt it, and what is to be stopped after it. */
export interface Setting {
  readonly plan: InvokePlan;
  readonly terminal: Terminal;
  readonly clock: Clock;
  readonly observation: Observation;
  readonly interrupted: Interruption;
  readonly client: HttpClient;
  readonly onStop: OnStop;
  readonly servers: StartedServers;
}

/** A tool that can be called, and whether it may. */
export interface Opened {
  readonly prepared: Prepared;
  readonly runtime: Runtime;
  readonly denial: Denial | null;
}

/**
 * The tool reached, the listener open, consent given or not; nothing is sent yet to the endpoint.
 * @throws ProtocolCliError saying what is wrong, or `interrupted`.
 */
export async function open(setting: Setting, onPrepared: (prepared: Prepared) => void): Promise<Opened> {
  const { plan, observation, interrupted, clock, onStop, client, servers } = setting;
  const { log, history, tellsBodies: keepBodies } = observation;
  onStop(() => client.close());
  const { policy: file, yes = false } = plan.options;
  const policy = file === undefined ? null : await loadPolicy(file, setting.terminal);
  const stage: Stage = { log, client, onStop, servers, ...asideOf(setting) };
  const prepared = await interrupted.race(prepare(plan, stage));
  onPrepared(prepared);
  if (policy && prepared.base === null && asksForAnnotations(policy)) throw blindPolicy();
  const runtime = await Runtime.start({ log, history, clock, listener: { ...plan.listener, keepBodies } });
  onStop(() => runtime.close());
  const denial = await interrupted.race(denialOf(prepared.tool, prepared.args, { policy, yes }, stage));
  if (interrupted.signal.aborted)
    throw new ProtocolCliError('interrupted', 'interrupted before the tool was called');
  return { prepared, runtime, denial };
}

function blindPolicy(): ProtocolCliError {
  return new ProtocolCliError('usage', '--endpoint loads no toolset, but the policy uses annotations', {
    hint: 'Give the base URL without --endpoint, or use names in the policy.',
  });
}

/** How a person is asked: beside whatever else is on the terminal, until they want to stop. */
export function asideOf({
  terminal,
  observation: { reporter },
  interrupted: { signal },
}: Setting): Pick<Stage, 'terminal' | 'signal' | 'aside'> {
  return { terminal, signal, aside: work => reporter.aside?.(work) ?? work() };
}

/** Without a terminal, an explicit `--timeout` still ends the wait; without one, consent may come at any time. */
export function waitsForPeople(options: Pick<InvokeOptions, 'isTimeoutTold'>, terminal: Terminal): boolean {
  return isSomebodyThere(terminal) || options.isTimeoutTold !== true;
}

/** A call as it will be sent, with its callback token redacted in the output. */
export function address(
  { observation: { redactor } }: Setting,
  { runtime, prepared }: Opened,
  { id, callId, groupId, userId, ancestors }: Identity,
): Invocation {
  const { invocation, token } = runtime.address({
    operation: prepared.tool.name,
    arguments: prepared.args,
    id,
    call_id: callId,
    group_id: groupId,
    ...(ancestors.length > 0 && { thread_ancestors: [...ancestors] }),
    ...(userId !== undefined && { user_id: userId }),
  });
  redactor.add(token);
  return invocation;
}

/** A person who interrupts gives the call up. Returns how to stop listening. */
export function cancelWhenInterrupted({ interrupted, observation }: Setting, key: string): () => void {
  return interrupted.onSignal(() =>
    observation.log.emit({ kind: 'decided', what: 'cancel', by: 'person', calls: [key] }),
  );
}

/** Who answers what the tool asks, and when a call is left though it is pending. */
interface Company {
  readonly answering: Answering;
  readonly leave: (exchange: Exchange) => boolean;
}

/** Sends an addressed call as the options say, has its questions answered, and waits until it is settled or left. */
export function converse(
  { plan, terminal }: Setting,
  { prepared: { wire, endpoint }, runtime }: Opened,
  invocation: Invocation,
  { answering, leave }: Company,
): Promise<Exchange> {
  const { timeout: timeoutMs, retries, lenientAck = false } = plan.options;
  const waiting = { timeoutMs, waitsForPeople: waitsForPeople(plan.options, terminal), leave };
  const call = { endpoint, invocation, retries, lenientAck, ...waiting };
  return runtime.invoke(wire, call, answering);
}

/** What calling came to. */
export interface Finish {
  /** Undefined unless there is exactly one. */
  readonly exchange: Exchange | undefined;
  readonly trouble: Trouble | null;
  readonly status: ExitStatus;
}

/** The status of one call: why there is no result, else what its outcome is. */
export function statusOfCall(exchange: Exchange, trouble: Trouble | null): ExitStatus {
  return trouble ? statusOfFailure(trouble.code) : statusOfOutcome(outcomeOf(exchange)?.type ?? 'unknown');
}

/** What the command itself has to warn of, as far as it got. */
export function notesOf(plan: InvokePlan, prepared: Pick<Prepared, 'notes'> | undefined): readonly Warning[] {
  return [...ownNotes(plan), ...(prepared?.notes ?? [])];
}

/** What the options themselves are worth a warning for (threats, row 5). */
function ownNotes({ listener: { host } }: InvokePlan): readonly Warning[] {
  if (!isWildcard(host)) return [];
  return [{ message: `the callback listener is open to the network (--callback-host ${host})` }];
}

/** Where notices go; `base` is null where no discovery said so. */
interface Farewell {
  readonly wire: Wire;
  readonly base: string | null;
  /** Closed at the end, since it is of our own making. */
  readonly isOurThread: boolean;
  /** False: the thread is left open all the same. */
  readonly closes: boolean;
  /** What may still come after a cancel is waited for, and told. */
  readonly listenOn: () => Promise<void>;
}

/**
 * Notifies the tool: cancels a call that the user gave up, or a subscription, and closes our own thread.
 * A call that took too long is not: a late result does no harm, but for one that opens a subscription.
 */
export async function takeLeave(
  exchange: Exchange,
  { wire, base, isOurThread, closes, listenOn }: Farewell,
): Promise<void> {
  const { key, invocation, settled, subscription } = exchange;
  if (base === null || settled?.by === 'denial') return;
  const { group_id: thread, id } = invocation;
  const isLeftOpen = isOpen(exchange) && !isOurThread; // closing the thread would end it too
  if (isLeftOpen) wire.log.emit({ kind: 'decided', what: 'cancel', by: 'policy', calls: [key] });
  if (isLeftOpen || settled?.by === 'cancel' || subscription?.ended?.by === 'cancel') {
    await cancelToolCall(wire, base, { key, thread, id });
    await listenOn();
  }
  if (isOurThread && closes) await closeThread(wire, base, thread);
}

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

/** Shows a refused call once, as the outcome of a call that was not made. */
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
  return { ...failure, message: `${failure.message}; --repeat does not ask, use --choose` };
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
