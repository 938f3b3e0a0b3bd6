import { ProtocolCliError } from '../../errors.js';
import { outcomeOf } from '../../exchange/ending.js';
import type { Exchange } from '../../exchange/exchange.js';
import { strayCount } from '../../exchange/history.js';
import type { Ending, Trouble } from '../../reporters/reporter.js';
import { cancelToolCall, closeThread } from '../../runtime/notices.js';
import { Runtime } from '../../runtime/runtime.js';
import { failureOf } from '../../story/failure.js';
import { type Clock, systemClock } from '../../system/clock.js';
import { createNodeClient } from '../../transport/node-client.js';
import { isWildcard } from '../../transport/server.js';
import { type ExitStatus, statusOfFailure, statusOfOutcome } from '../exit-status.js';
import { type Interruption, interruption } from '../interruption.js';
import type { Terminal } from '../terminal.js';
import { answerChoices, isLeftOpen } from './choices.js';
import type { Stage } from './locate.js';
import { type Observation, observe } from './observe.js';
import type { InvokePlan } from './plan.js';
import { type Prepared, prepare } from './prepare.js';

/** `invoke`, from the plan to the exit status. */
export async function runInvoke(
  plan: InvokePlan,
  terminal: Terminal,
  clock: Clock = systemClock,
): Promise<ExitStatus> {
  const observation = await observe(plan.options, terminal, clock);
  const interrupted = interruption();
  const run = new InvokeRun(plan, terminal, clock, observation, interrupted);
  const trouble = await run
    .toTheEnd()
    .catch(asTrouble)
    .finally(() => run.stop());
  return conclude(run.ending(trouble), observation, interrupted);
}

class InvokeRun {
  readonly #stops: (() => Promise<void>)[] = [];
  #prepared: Prepared | undefined;

  constructor(
    private readonly plan: InvokePlan,
    private readonly terminal: Terminal,
    private readonly clock: Clock,
    private readonly observation: Observation,
    private readonly interrupted: Interruption,
  ) {}

  /** Prepares, calls, tells, and takes leave of the tool. Resolves to what went wrong, if anything did. */
  async toTheEnd(): Promise<Trouble | null> {
    const { log, history } = this.observation;
    const client = createNodeClient();
    this.#stops.push(() => client.close());
    const stage: Stage = { log, client, ...this.#aside(), onStop: stop => this.#stops.push(stop) };
    this.#prepared = await this.interrupted.race(prepare(this.plan, stage));
    const runtime = await Runtime.start({ log, history, clock: this.clock, listener: this.plan.listener });
    this.#stops.push(() => runtime.close());
    if (this.interrupted.signal.aborted)
      throw new ProtocolCliError('interrupted', 'interrupted before the tool was called');
    await this.#call(runtime, this.#prepared);
    const exchange = this.#exchange();
    const failure = exchange ? this.#failure(exchange) : null;
    await this.observation.reporter.settled?.(this.ending(failure));
    await this.#takeLeave(this.#prepared, exchange);
    return failure;
  }

  ending(trouble: Trouble | null): Ending {
    const { history } = this.observation;
    return {
      history,
      exchange: this.#exchange(),
      notes: [...this.#ownNotes(), ...(this.#prepared?.notes ?? [])],
      trouble,
    };
  }

  /** Whatever happened: nothing of ours goes on, and the terminal is in order. */
  async stop(): Promise<void> {
    await Promise.allSettled(this.#stops.reverse().map(stop => stop()));
    this.interrupted.release();
    if (this.interrupted.signal.aborted) this.terminal.stdin.destroy(); // arguments may still be awaited from there
    await this.observation.reporter.close?.();
  }

  /** How a person is asked: beside whatever else is on the terminal, until they want to stop. */
  #aside(): Pick<Stage, 'terminal' | 'signal' | 'aside'> {
    const { reporter } = this.observation;
    const { signal } = this.interrupted;
    return { terminal: this.terminal, signal, aside: work => reporter.aside?.(work) ?? work() };
  }

  async #call(runtime: Runtime, { wire, endpoint, operation, args }: Prepared): Promise<void> {
    const { options, identity } = this.plan;
    const { id, callId, groupId, userId, ancestors } = identity;
    const { invocation, token } = runtime.address({
      operation,
      arguments: args,
      id,
      call_id: callId,
      group_id: groupId,
      ...(ancestors.length > 0 && { thread_ancestors: [...ancestors] }),
      ...(userId !== undefined && { user_id: userId }),
    });
    this.observation.redactor.add(token);
    const chooser = { choose: options.choose, ...this.#aside() };
    const { history } = this.observation;
    const unbind = [answerChoices(wire, history, invocation, chooser), this.#cancelWhenInterrupted(id)];
    const { timeout: timeoutMs, retries, lenientAck = false } = options;
    const leave = (exchange: Exchange) => isLeftOpen(exchange, chooser);
    await runtime.invoke(wire, { endpoint, invocation, timeoutMs, retries, lenientAck, leave });
    await this.#linger();
    for (const each of unbind) each();
  }

  #cancelWhenInterrupted(key: string): () => void {
    return this.interrupted.onSignal(() =>
      this.observation.log.emit({ kind: 'decided', what: 'cancel', by: 'person', calls: [key] }),
    );
  }

  /** `--linger`: what still comes is told too. */
  async #linger(): Promise<void> {
    const { linger: afterMs = 0 } = this.plan.options;
    const by = this.#exchange()?.settled?.by;
    if (afterMs === 0 || (by !== 'result' && by !== 'timeout')) return;
    const { signal } = this.interrupted;
    await new Promise<void>(resolve => {
      const cancel = this.clock.after(afterMs, resolve);
      const leave = () => {
        cancel();
        resolve();
      };
      signal.addEventListener('abort', leave, { once: true });
    });
    if (!signal.aborted) this.observation.log.emit({ kind: 'expired', what: 'linger', afterMs });
  }

  /** The tool hears that nobody waits any more: the call cancelled where we gave it up, our own thread closed. */
  async #takeLeave({ wire, base }: Prepared, exchange: Exchange | undefined): Promise<void> {
    if (base === null || !exchange) return;
    const { group_id: thread, id } = exchange.invocation;
    if (exchange.settled?.by === 'cancel')
      await cancelToolCall(wire, base, { key: exchange.key, thread, id });
    if (this.plan.identity.isOurThread) await closeThread(wire, base, thread);
  }

  #failure(exchange: Exchange): Trouble | null {
    const failure = failureOf(exchange, strayCount(this.observation.history));
    const { choose } = this.plan.options;
    if (failure?.code !== 'decision-needed' || choose === undefined) return failure;
    return { ...failure, message: `--choose ${choose} is none of the choices that the tool offers` };
  }

  #exchange(): Exchange | undefined {
    return this.observation.history.first;
  }

  #ownNotes() {
    const { host } = this.plan.listener;
    return isWildcard(host)
      ? [{ message: `the callback listener is open to the network (--callback-host ${host})` }]
      : [];
  }
}

async function conclude(
  ending: Ending,
  { reporter, finish }: Observation,
  { signalStatus }: Interruption,
): Promise<ExitStatus> {
  const kept = await finish(ending.trouble?.code ?? 'done').then(() => null, asTrouble);
  const trouble = ending.trouble ?? kept;
  const lost = ending.trouble && kept ? [{ message: kept.message }] : [];
  await reporter.end({ ...ending, notes: [...ending.notes, ...lost], trouble });
  const outcome = ending.exchange ? outcomeOf(ending.exchange) : null;
  const status = trouble ? statusOfFailure(trouble.code) : statusOfOutcome(outcome?.type ?? 'unknown');
  return signalStatus() ?? status;
}

function asTrouble(error: unknown): Trouble {
  if (error instanceof ProtocolCliError) return error;
  throw error;
}
