import { setTimeout as delay } from 'node:timers/promises';
import type { Exchange } from '../../events/exchange.js';
import type { HttpClient } from '../../http/client.js';
import type { Invocation } from '../../protocol/invocation.js';
import type { Warning } from '../../protocol/requirements.js';
import type { Tool } from '../../protocol/toolset.js';
import { failureOf } from '../../render/failure.js';
import type { Trouble } from '../../render/outputs/trouble.js';
import { checkArguments, toolOf } from '../../runtime/check-call.js';
import { Runtime, subscriptionEnd } from '../../runtime/runtime.js';
import { DISCOVERY_HINTS, Wire } from '../../runtime/wire.js';
import { ProtocolCliError } from '../../util/errors.js';
import { REDACTED } from '../../util/redact.js';
import { cut, excerpt, firstFew, formatDuration } from '../../util/text.js';
import { visibleLine } from '../../util/visible.js';
import type { Denial } from '../consent.js';
import { asTrouble, withErrorReport } from '../run.js';
import { type ConfiguredTarget, reach, readHeaders, type ServerTarget, StartedServers } from '../target.js';
import type { ExitStatus, Terminal } from '../terminal.js';
import { askForArguments, readArguments } from './arguments.js';
import { type CallRun, type Finish, type ReachedTool, runCall } from './call-run.js';
import { type InvokeOptions, type InvokePlan, identityOf, invocationOf, planInvoke } from './plan.js';
import { Chooser } from './questions.js';
import { curlOf, gapsIn, requestText, YOUR_CALLBACK } from './request.js';

/**
 * Runs `invoke`. With `-o json` an object is printed even if the command fails early.
 * @param refuseIdle throws for options that would have no effect
 */
export async function startInvoke(
  words: readonly string[],
  options: InvokeOptions,
  terminal: Terminal,
  refuseIdle: () => void,
): Promise<ExitStatus> {
  const { interactive, watch, output, dialect, command, dryRun } = options;
  if (interactive) {
    refuseIdle();
    return (await import('../workbench/start.js')).startWorkbench(words, options, terminal);
  }
  return withErrorReport(output === 'json' && dialect === undefined, terminal, async () => {
    refuseIdle();
    const once = async () => {
      const plan = planInvoke(words, options);
      const { peer } = plan;
      if (!peer) return runCall(plan, terminal, reachRap);
      const { reachMcp } = await import('./mcp.js');
      return runCall(plan, terminal, call => reachMcp(call, peer));
    };
    if (!watch || dryRun) return once();
    return (await import('../watch-command.js')).runOnEachChange(command, terminal, once);
  });
}

const HINTS = {
  ...DISCOVERY_HINTS,
  missing: 'Give the base URL of the tool server. If this is the invocation endpoint itself, add --endpoint.',
};

/** Limits for the list of operations: number of names, and length of a description. */
const MAX = { names: 60, description: 60 };

/** After a cancel, shows callbacks that are already in transit; with `--linger` for at most two seconds. */
const AFTER_CANCEL_MS = { usual: 300, most: 2_000 };

/** Ms before the program prints what it is waiting for. */
const NOTICE_AFTER_MS = 3_000;

/** The status of the first match is returned, from the most specific to the least. */
const WORST_FIRST: readonly ExitStatus[] = [4, 7, 6, 5, 0];

/** Finds the RAP tool of a call, and reads its arguments. @throws ProtocolCliError with the cause. */
async function reachRap(call: CallRun): Promise<ReachedTool> {
  const { output, history } = call;
  const { log, redactor, onStop, signal } = call.run;
  const verbosely = output?.verbosely;
  const onStderr = verbosely ? (lines: string) => verbosely(redactor.text(lines)) : null;
  const servers = new StartedServers(log, () => history.exchanges.values(), onStderr);
  call.notes = () => servers.warnings;
  const client = call.run.openClient(call.plan.options.repeat !== undefined);
  const preparation = new Preparation(call, client, target =>
    reach(target, { onStop, signal, ...servers.options }),
  );
  return new RapTool(call, await preparation.prepare(), servers);
}

type Prepared = Awaited<ReturnType<Preparation['prepare']>>;

/** A RAP tool with its arguments: calls it, and notifies it at the end. */
class RapTool implements ReachedTool {
  readonly tool: Prepared['tool'];
  readonly args: Prepared['args'];
  readonly #options: InvokeOptions;
  #runtime: Runtime | undefined;

  constructor(
    private readonly run: CallRun,
    private readonly prepared: Prepared,
    private readonly servers: StartedServers,
  ) {
    this.tool = prepared.tool;
    this.args = prepared.args;
    this.#options = run.plan.options;
    run.explain = exchange => this.#troubleOf(exchange);
  }

  notes(): readonly Warning[] {
    return [...this.prepared.notes, ...this.servers.warnings];
  }

  preview() {
    const { plan } = this.run;
    const { wire, endpoint, tool, args } = this.prepared;
    const isWithheld = wire.withheldFrom(endpoint).length > 0;
    const redacted = Object.fromEntries(
      Object.keys(isWithheld ? {} : wire.headers).map(name => [name, REDACTED]),
    );
    const callback_url = `${plan.listener.publicUrl ?? 'http://127.0.0.1:PORT'}/callback/TOKEN`;
    const request = {
      method: 'POST',
      url: endpoint,
      headers: { 'content-type': 'application/json', ...redacted },
      body: { ...invocationOf(plan.identity, tool.name, args), callback_url },
    } as const;
    const byHand = { ...request, body: { ...request.body, callback_url: YOUR_CALLBACK } };
    return {
      text: requestText(request, byHand),
      report: { request, curl: curlOf(byHand) },
      advice: `before you run the curl, fill in: ${gapsIn(byHand).join(', ')}\n`,
    };
  }

  async call(denial: Denial | null): Promise<Finish> {
    const { run, history, output, plan } = this.run;
    const { log, clock, onStop, signal, redactor } = run;
    const keepBodies = output?.keepsBodies ?? false;
    const listener = { ...plan.listener, keepBodies };
    const runtime = await Runtime.start({ log, history, clock, listener, onSecret: redactor.add });
    this.#runtime = runtime;
    onStop(() => runtime.close());
    onStop(async () => (signal.aborted ? undefined : this.servers.settle()));
    const { repeat } = this.#options;
    return repeat === undefined ? this.#once(denial) : this.#repeatedly(repeat, denial);
  }

  /** Calls, reports the result immediately, waits as long as `--follow` and `--linger` require, and notifies the tool. */
  async #once(denial: Denial | null): Promise<Finish> {
    const { run } = this;
    const { identity } = run.plan;
    const { linger = AFTER_CANCEL_MS.usual } = this.#options;
    const made = await this.#make(identity, denial, run.chooser, async exchange => {
      await run.report(exchange);
      if (!denial) await this.#stay(exchange);
    });
    const exchange = run.history.exchanges.get(made.key) ?? made;
    await this.#leave(exchange, identity, () => delay(Math.min(linger, AFTER_CANCEL_MS.most)));
    return run.finished(exchange); // callbacks after the cancel do not change the exit status
  }

  /** `--repeat`: makes the same call several times, some in parallel, and reports each when it ends. */
  async #repeatedly(repeat: number, denial: Denial | null): Promise<Finish> {
    const { run } = this;
    const { concurrency = 1, choose = [] } = this.#options;
    const chooser = new Chooser(run.chooser.prompts, choose);
    const statuses: ExitStatus[] = [];
    let begun = 0;
    const callNext = async () => {
      begun++;
      const own = identityOf(this.#options);
      const exchange = await this.#make(own, denial, chooser, async each => {
        statuses.push((await run.report(each)).status);
      });
      await this.#leave(exchange, own);
    };
    const worker = async () => {
      while (begun < repeat && !run.run.signal.aborted) await callNext();
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

  /** @param report reports the call, before its end is final */
  async #make(
    identity: InvokePlan['identity'],
    denial: Denial | null,
    chooser: Chooser,
    report: (exchange: Exchange) => Promise<void>,
  ): Promise<Exchange> {
    const { run, prepared } = this;
    const runtime = this.#runtime;
    if (!runtime) throw new Error('the runtime is started before the first call');
    const { timeout: timeoutMs, retries, lenientAck = false } = this.#options;
    const { wire, endpoint, tool, args } = prepared;
    const invocation = runtime.addressed(invocationOf(identity, tool.name, args));
    const stopCancelling = denial ? () => {} : run.cancelWhenInterrupted(invocation.id);
    const call = {
      ...{ endpoint, invocation, retries, lenientAck, timeoutMs },
      pausesForUser: run.pausesForUser,
      stopWaiting: (pending: Exchange) => chooser.isLeftOpen(pending),
    };
    const exchange = denial
      ? runtime.deny(invocation, denial)
      : await runtime.invoke(wire, call, chooser).finally(this.#announceWait(invocation));
    await report(exchange);
    stopCancelling();
    return exchange;
  }

  /** Prints what a long wait is for: the usual reason is a tool that cannot reach the callback URL. */
  #announceWait({ id, callback_url }: Pick<Invocation, 'id' | 'callback_url'>): () => void {
    const { output, history } = this.run;
    const { clock, stderr } = this.run.run;
    const { timeout, quiet, repeat } = this.#options;
    if (quiet || output?.isDrawn || repeat !== undefined) return () => {};
    const waited = formatDuration(NOTICE_AFTER_MS) + (timeout === 0 ? '' : ` of ${formatDuration(timeout)}`);
    const text = `no callback has arrived yet at ${new URL(callback_url).origin} · ${waited} · Ctrl-C stops\n`;
    return clock.after(NOTICE_AFTER_MS, () => {
      if (history.exchanges.get(id)?.arrivals.length === 0) stderr.write(text);
    });
  }

  /** Waits as `--follow` and `--linger` require. */
  async #stay({ key, settled }: Exchange): Promise<void> {
    const { follow, linger = 0 } = this.#options;
    const { run, history } = this.run;
    const { log, signal, terminal } = run;
    const readerGone = new Promise(resolve => terminal.stdout.once('error', resolve)); // as with `| head -1`
    if (follow) await Promise.race([subscriptionEnd(log, history, key), readerGone]);
    if (linger === 0 || (settled?.by !== 'result' && settled?.by !== 'timeout')) return;
    await delay(linger, null, { signal }).catch(() => {});
    if (!signal.aborted) log.emit({ kind: 'expired', what: 'linger', afterMs: linger });
  }

  /** Only discovery gives the address for notices. */
  async #leave(
    exchange: Exchange,
    { isOurThread }: InvokePlan['identity'],
    waitForCallbacks?: () => Promise<void>,
  ): Promise<void> {
    if (this.run.plan.target?.kind === 'endpoint') return;
    const closes = this.#options.close !== false;
    await this.prepared.wire.endCall(exchange, { isOurThread, closes, waitForCallbacks });
  }

  #troubleOf(exchange: Exchange): Trouble | null {
    const { history, chooser } = this.run;
    const failure = this.servers.explain(failureOf(exchange, history.untracked));
    if (failure?.code !== 'decision-needed') return failure;
    if (this.#options.repeat !== undefined)
      return { ...failure, message: `${failure.message}; --repeat does not ask, use --choose` };
    if (chooser.by === 'person') return failure;
    const message = `--choose ${chooser.unmatched(exchange)} is not one of the choices that the tool offers`;
    return { ...failure, message };
  }
}

/** Loads the toolset, finds the operation, and checks the arguments. */
class Preparation {
  readonly #plan: InvokePlan;
  readonly #prompts: Chooser['prompts'];

  constructor(
    private readonly call: CallRun,
    private readonly client: HttpClient,
    private readonly start: (target: ConfiguredTarget) => Promise<string>,
  ) {
    this.#plan = call.plan;
    this.#prompts = call.chooser.prompts;
  }

  /** @throws ProtocolCliError with the cause. */
  async prepare() {
    const { target, operation, options, words } = this.#plan;
    const { stdin } = this.#prompts.terminal;
    if (target?.kind === 'endpoint') {
      const message =
        '--endpoint: no toolset was loaded, so neither the operation nor the arguments were checked';
      return {
        wire: this.#wireTo(target.url),
        endpoint: target.url,
        tool: { name: operation ?? '' },
        args: (await readArguments(words, stdin))(null),
        notes: [{ id: 'RT-OP', message }] as readonly Warning[],
      };
    }
    const located = target ? await this.#locateOn(target) : await this.#locateAmongConfigured();
    const { tool, wire, toolset, remarks } = located;
    const isAsked = operation === undefined && words.words.length === 0 && words.whole === undefined;
    const args = isAsked
      ? await askForArguments(tool, this.#prompts)
      : (await readArguments(words, stdin))(tool.inputSchema);
    const notes: readonly Warning[] = [
      ...located.notes,
      ...remarks.map(message => ({ id: 'TOOL-DISCOVER', message }) as const),
      ...(options.validate ? await checkArguments(tool, args) : []),
      ...wire.withheldFrom(toolset.endpoint),
    ];
    return { wire, args, tool, endpoint: toolset.endpoint, notes };
  }

  async #locateOn(target: ServerTarget) {
    const loaded = await this.#load(target);
    const { toolset } = loaded;
    const operation = this.#plan.operation ?? (await this.#askForOperation(toolset.tools));
    return { ...loaded, tool: toolOf(toolset, operation), notes: [] };
  }

  /** A name that two toolsets define cannot be called in either (RT-TOOLSET). */
  async #locateAmongConfigured() {
    const { confirmCommands, readRapConfig, requireServers } = await import('../rap-config.js');
    const config = await readRapConfig(this.#prompts.terminal);
    requireServers(config);
    const { targets, warnings } = config;
    if (!this.#plan.options.yes) await this.#prompts.aside(() => confirmCommands(targets, this.#prompts));
    const servers = await Promise.allSettled(targets.map(each => this.#load(each)));
    const loaded = servers.flatMap(each => (each.status === 'fulfilled' ? [each.value] : []));
    const failures = servers.flatMap(each => (each.status === 'rejected' ? [asTrouble(each.reason)] : []));
    if (loaded.length === 0) throw failures[0];
    const unusable = failures.map(({ message }) => ({
      message: `a configured tool server could not be used: ${message}`,
    }));
    const notes = [...warnings, ...unusable];
    const offers = loaded.flatMap(each => each.toolset.tools.map(tool => ({ ...each, tool, notes })));
    const tools = offers.map(({ tool }) => tool);
    const operation = this.#plan.operation ?? (await this.#askForOperation(tools));
    const [first, ...others] = offers.filter(({ tool }) => tool.name === operation);
    const faults = notes.map(({ message }) => message);
    if (first && others.length === 0) return first;
    const [message, hint] = first
      ? [
          `"${operation}" is defined by ${others.length + 1} toolsets, so neither is used (RT-TOOLSET)`,
          'Name the tool by its URL.',
        ]
      : [
          `no configured toolset has an operation "${operation}"`,
          `Available: ${tools.map(({ name }) => name).join(', ')}.`,
        ];
    throw new ProtocolCliError('unknown-operation', message, { faults, hint });
  }

  async #load(target: ConfiguredTarget) {
    const wire = this.#wireTo(await this.start(target));
    const { toolset, notes: remarks } = await wire.discover(HINTS, this.#plan.options.timeout);
    return { wire, toolset, remarks };
  }

  #wireTo(url: string): Wire {
    const { log, terminal } = this.call.run;
    return new Wire(log, this.client, url, readHeaders(this.#plan.options, terminal.env));
  }

  /** Asks the user for an operation. @throws ProtocolCliError `usage`, with the available names. */
  async #askForOperation(tools: readonly Tool[]): Promise<string> {
    const { canAsk, signal } = this.#prompts;
    const picked = canAsk ? await this.#prompts.aside(() => this.#pickOperation(tools)) : null;
    if (picked !== null) return picked;
    const names = [...new Set(tools.map(({ name }) => name))];
    throw new ProtocolCliError(
      signal.aborted ? 'interrupted' : 'usage',
      `no operation given. Available: ${firstFew(names, MAX.names)}`,
      { hint: 'Put one of them after the URL: protocol-cli invoke <url> <operation> key=value' },
    );
  }

  async #pickOperation(tools: readonly Tool[]): Promise<string | null> {
    const lines = tools.map(
      ({ name, description }, index) => `${index + 1}  ${name}  ${cut(description, MAX.description)}`,
    );
    this.#prompts.show(`${lines.map(visibleLine).join('\n')}\n`);
    for (;;) {
      const answer = (await this.#prompts.ask('Operation (number or name): '))?.trim();
      if (!answer) return null;
      const picked = tools.find(({ name }, index) => name === answer || String(index + 1) === answer);
      if (picked) return picked.name;
      this.#prompts.show(`no operation ${excerpt(answer)}\n`);
    }
  }
}
