import { setTimeout as delay } from 'node:timers/promises';
import type { Exchange } from '../../events/exchange.js';
import { failureOf } from '../../render/failure.js';
import type { Trouble } from '../../render/outputs/trouble.js';
import { takeLeave } from '../../runtime/notices.js';
import { asksForAnnotations } from '../../runtime/policy.js';
import { Runtime, subscriptionEnd } from '../../runtime/runtime.js';
import { secretsOf } from '../../util/credentials.js';
import { REDACTED } from '../../util/redact.js';
import { usage } from '../options.js';
import { StartedServers } from '../reach.js';
import { withErrorReport, withRun } from '../run.js';
import { readHeaders } from '../target.js';
import type { ExitStatus, Terminal } from '../terminal.js';
import { type CallRun, type Finish, finishOf, runCall } from './call-run.js';
import { curlOf, gapsIn, requestText, showPreview, YOUR_CALLBACK } from './dry-run.js';
import {
  type Identity,
  type InvokeOptions,
  type InvokePlan,
  identityOf,
  invocationOf,
  planInvoke,
} from './plan.js';
import { type Prepared, prepare } from './prepare.js';
import { answeringWith, type Chooser, type Denial, isLeftOpen, stageOf, unfitting } from './questions.js';

/** Runs `invoke`. With `-o json` an object is printed even if the command fails early. */
export async function startInvoke(
  words: readonly string[],
  options: InvokeOptions,
  terminal: Terminal,
): Promise<ExitStatus> {
  const { interactive, mcp, watch, output, dialect, command } = options;
  if (interactive) return (await import('../workbench/start.js')).startWorkbench(words, options, terminal);
  return withErrorReport(output === 'json' && dialect === undefined, terminal, async () => {
    if (mcp !== undefined) return (await import('./mcp.js')).invokeMcp(words, options, terminal);
    const once = () => {
      const plan = planInvoke(words, options);
      return options.dryRun ? dryRun(plan, terminal) : runCall(plan, terminal, callRap);
    };
    if (!watch || options.dryRun) return once();
    return (await import('../watch-command.js')).runOnEachChange(command, terminal, once);
  });
}

/**
 * `--dry-run`: prints what would be sent. Only discovery is requested: without it neither the endpoint nor the types of the arguments
 * are known.
 */
function dryRun(plan: InvokePlan, terminal: Terminal): Promise<ExitStatus> {
  const secrets = secretsOf(readHeaders(plan.options, terminal.env));
  return withRun({ terminal, secrets }, async run => {
    const reach = { log: run.log, client: run.openClient(), stage: stageOf(run), starting: run };
    const prepared = await run.interrupted.race(prepare(plan, reach));
    const { tool, endpoint, wire, notes } = prepared;
    const { headers, origin } = wire.credentials;
    const sent = new URL(endpoint).origin === origin ? Object.keys(headers) : [];
    const {
      operation,
      arguments: args,
      id,
      call_id,
      ...rest
    } = invocationOf(plan.identity, tool.name, prepared.args);
    const callback_url = `${plan.listener.publicUrl ?? 'http://127.0.0.1:PORT'}/callback/TOKEN`;
    const redacted = Object.fromEntries(sent.map(name => [name, REDACTED]));
    const request = {
      method: 'POST',
      url: endpoint,
      headers: { 'content-type': 'application/json', ...redacted },
      body: { operation, arguments: args, id, call_id, callback_url, ...rest },
    } as const;
    const byHand = { ...request, body: { ...request.body, callback_url: YOUR_CALLBACK } };
    return showPreview(
      {
        tool,
        text: requestText(request, byHand),
        report: { request, curl: curlOf(byHand) },
        warnings: notes,
        advice: `before you run the curl, put in your ${gapsIn(byHand).join(', ')}\n`,
      },
      plan.options,
      run,
    );
  });
}

/** Calls a RAP tool: discovery, callbacks, notices. */
async function callRap(call: CallRun): Promise<Finish> {
  const { plan, run, output } = call;
  const { log, onStop, clock, signal, redactor } = run;
  const { history, keepsBodies: keepBodies, verbosely } = output;
  const policy = await call.policy();
  const client = run.openClient(plan.options.repeat !== undefined);
  const onStderr = verbosely && ((lines: string) => verbosely(redactor.text(lines)));
  const servers = new StartedServers(log, () => history.exchanges.values(), onStderr);
  call.notes = () => servers.warnings;
  const starting = { onStop, signal, ...servers.options };
  const prepared = await run.interrupted.race(prepare(plan, { log, client, stage: call.stage, starting }));
  call.notes = () => [...prepared.notes, ...servers.warnings];
  if (policy && prepared.base === null && asksForAnnotations(policy))
    throw usage(
      '--endpoint loads no toolset, but the policy uses annotations',
      'Give the base URL without --endpoint, or use names in the policy.',
    );
  const runtime = await Runtime.start({ log, history, clock, listener: { ...plan.listener, keepBodies } });
  onStop(() => runtime.close());
  onStop(async () => (signal.aborted ? undefined : servers.settle()));
  const denial = await call.denial(prepared.tool, prepared.args, policy);
  const calls = new RapCalls(call, prepared, runtime, servers, denial);
  return plan.options.repeat === undefined ? calls.once() : calls.repeatedly(plan.options.repeat);
}

/** After a cancel: shows callbacks that are already on their way; with `--linger` at most two seconds. */
const AFTER_CANCEL_MS = { usual: 300, most: 2_000 };

/** From the status that says most about the tool to the one that says least. */
const WORST_FIRST: readonly ExitStatus[] = [4, 7, 6, 5, 0];

/** Calls a tool that was prepared, or records that the call is denied. */
class RapCalls {
  readonly #options: InvokeOptions;

  constructor(
    private readonly call: CallRun,
    private readonly prepared: Prepared,
    private readonly runtime: Runtime,
    private readonly servers: StartedServers,
    private readonly denial: Denial | null,
  ) {
    this.#options = call.plan.options;
  }

  /** Calls, reports the result at once, stays as long as was asked for, and notifies the tool. */
  async once(): Promise<Finish> {
    const { call, denial } = this;
    const { linger = AFTER_CANCEL_MS.usual } = this.#options;
    const made = await this.#make(call.plan.identity, call.chooser, async exchange => {
      await call.report(exchange, this.#troubleOf(exchange));
      if (!denial) await this.#stay(exchange);
    });
    const exchange = call.output.history.exchanges.get(made.key) ?? made;
    await this.#leave(exchange, call.plan.identity, () => delay(Math.min(linger, AFTER_CANCEL_MS.most)));
    return finishOf(exchange, this.#troubleOf(exchange)); // what came after the cancel changes nothing
  }

  /** `--repeat`: the same call many times, some in parallel, each reported as it ends. */
  async repeatedly(repeat: number): Promise<Finish> {
    const { call, denial } = this;
    const { concurrency = 1, choose = [] } = this.#options;
    const statuses: ExitStatus[] = [];
    let begun = 0;
    const callNext = async () => {
      begun++;
      const own = identityOf(this.#options);
      const exchange = await this.#make(own, { ...call.chooser, choose }, async each => {
        statuses.push((await call.report(each, this.#troubleOf(each))).status);
      });
      await this.#leave(exchange, own);
    };
    const worker = async () => {
      while (begun < repeat && !call.run.signal.aborted) await callNext();
    };
    if (denial) await callNext();
    else {
      const ended = await Promise.allSettled(Array.from({ length: Math.min(concurrency, repeat) }, worker));
      for (const each of ended) if (each.status === 'rejected') throw each.reason;
    }
    const missing = denial ? 0 : repeat - begun;
    const message = `interrupted: ${missing} of ${repeat} ${missing === 1 ? 'call was' : 'calls were'} not made`;
    const trouble = missing === 0 ? null : ({ code: 'interrupted', message } as const);
    const status = WORST_FIRST.find(each => statuses.includes(each)) ?? statuses[0] ?? 0;
    return { exchange: undefined, trouble, status };
  }

  /** Makes one call. @param report reports it, before its end is final */
  async #make(
    identity: Identity,
    chooser: Chooser,
    report: (exchange: Exchange) => Promise<void>,
  ): Promise<Exchange> {
    const { call, runtime, denial } = this;
    const { timeout: timeoutMs, retries, lenientAck = false } = this.#options;
    const { wire, endpoint, tool, args } = this.prepared;
    const { invocation, token } = runtime.address(invocationOf(identity, tool.name, args));
    call.run.redactor.add(token);
    if (denial) {
      const denied = runtime.deny(invocation, denial);
      await report(denied);
      return denied;
    }
    const stopCancelling = call.cancelWhenInterrupted(invocation.id);
    const exchange = await runtime.invoke(
      wire,
      {
        ...{ endpoint, invocation, retries, lenientAck, timeoutMs },
        waitsForPeople: call.waitsForPeople,
        leave: pending => isLeftOpen(pending, chooser),
      },
      answeringWith(chooser),
    );
    await report(exchange);
    stopCancelling();
    return exchange;
  }

  /** `--follow` and `--linger`. */
  async #stay({ key, settled }: Exchange): Promise<void> {
    const { follow, linger = 0 } = this.#options;
    const { run, output } = this.call;
    const { log, signal, terminal } = run;
    const readerGone = new Promise(resolve => terminal.stdout.once('error', resolve)); // as after `head -1`
    if (follow) await Promise.race([subscriptionEnd(log, output.history, key), readerGone]);
    if (linger === 0 || (settled?.by !== 'result' && settled?.by !== 'timeout')) return;
    await delay(linger, null, { signal }).catch(() => {});
    if (!signal.aborted) log.emit({ kind: 'expired', what: 'linger', afterMs: linger });
  }

  #leave(exchange: Exchange, { isOurThread }: Identity, listenOn = async () => {}): Promise<void> {
    const { wire, base } = this.prepared;
    const closes = this.#options.close !== false;
    return takeLeave(exchange, { wire, base, isOurThread, closes, listenOn });
  }

  #troubleOf(exchange: Exchange): Trouble | null {
    const failure = this.servers.explain(failureOf(exchange, this.call.output.history.untracked));
    const { choose, repeat } = this.#options;
    if (failure?.code !== 'decision-needed') return failure;
    if (repeat !== undefined)
      return { ...failure, message: `${failure.message}; --repeat does not ask, use --choose` };
    if (choose === undefined) return failure;
    const message = `--choose ${unfitting(exchange, choose)} is not one of the choices that the tool offers`;
    return { ...failure, message };
  }
}
