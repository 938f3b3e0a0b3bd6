import { ProtocolCliError } from '../../errors.js';
import type { Invocation } from '../../protocol/invocation.js';
import { asksForAnnotations } from '../../runtime/policy.js';
import { Runtime } from '../../runtime/runtime.js';
import type { Clock } from '../../system/clock.js';
import type { HttpClient } from '../../transport/client.js';
import { isSomebodyThere } from '../ask.js';
import type { Interruption, OnStop } from '../interruption.js';
import type { StartedServers } from '../started-server.js';
import type { Terminal } from '../terminal.js';
import { type Denial, denialOf, loadPolicy } from './consent.js';
import type { Stage } from './locate.js';
import type { Observation } from './observe.js';
import type { Identity, InvokeOptions, InvokePlan } from './plan.js';
import { type Prepared, prepare } from './prepare.js';

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
  return new ProtocolCliError('usage', '--endpoint loads no toolset, and the policy asks for annotations', {
    hint: 'Give the base URL without --endpoint, or a policy by names.',
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

/** Where nobody is there, a `--timeout` that somebody gave is the end all the same; without one, consent may come at any time. */
export function waitsForPeople(options: Pick<InvokeOptions, 'isTimeoutTold'>, terminal: Terminal): boolean {
  return isSomebodyThere(terminal) || options.isTimeoutTold !== true;
}

/** A call as it will be sent, its callback token kept out of whatever is told. */
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
