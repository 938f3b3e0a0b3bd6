import { setTimeout as delay } from 'node:timers/promises';
import type { Exchange } from '../../events/exchange.js';
import type { Invocation } from '../../protocol/invocation.js';
import type { Tool } from '../../protocol/toolset.js';
import { failureOf } from '../../render/failure.js';
import type { Trouble } from '../../render/outputs/trouble.js';
import { checkArguments, toolOf } from '../../runtime/check-call.js';
import { Runtime, subscriptionEnd } from '../../runtime/runtime.js';
import { DISCOVERY_HINTS, Wire } from '../../runtime/wire.js';
import { ProtocolCliError } from '../../util/errors.js';
import { REDACTED } from '../../util/redact.js';
import { excerpt, formatDuration, joinFirst, truncate } from '../../util/text.js';
import { visibleLine } from '../../util/visible.js';
import type { Denial } from '../consent.js';
import { readHeaders } from '../headers.js';
import { asTrouble, withErrorReport } from '../run.js';
import { StartedServers, startTarget } from '../started-servers.js';
import type { ConfiguredTarget, ServerTarget } from '../target.js';
import type { ExitStatus, Terminal } from '../terminal.js';
import { askForArguments, readArguments } from './arguments.js';
import { CallRun, type Finish, NOTICE_AFTER_MS, runCall } from './call-run.js';
import { type InvokeOptions, type InvokePlan, identityOf, invocationOf, planInvoke } from './plan.js';
import { Chooser } from './questions.js';
import { curlOf, PLACEHOLDER_CALLBACK, placeholdersIn, requestText } from './request.js';

/**
 * Runs `invoke`. With `-o json` an object is printed even if the command fails early.
 * @param refuseIneffective throws for options that would have no effect
 */
export async function startInvoke(
  words: readonly string[],
  options: InvokeOptions,
  terminal: Terminal,
  refuseIneffective: () => void,
): Promise<ExitStatus> {
  const { interactive, watch, output, dialect, command, dryRun } = options;
  if (interactive) {
    refuseIneffective();
    return (await import('../workbench/start.js')).startWorkbench(words, options, terminal);
  }
  return withErrorReport(output === 'json' && dialect === undefined, terminal, async () => {
    refuseIneffective();
    const once = async () => {
      const plan = planInvoke(words, options);
      const Calls = plan.peer ? (await import('./mcp.js')).McpRun : RapRun;
      return runCall(plan, terminal, (...args) => new Calls(...args));
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

/** The status of the first match is returned, from the most specific to the least. */
const WORST_FIRST: readonly ExitStatus[] = [4, 7, 6, 5, 0];

/** A RAP tool that was found, and the arguments of the call. */
interface Found {
  readonly tool: Pick<Tool, 'name' | 'annotations'>;
  readonly args: Record<string, unknown>;
  readonly wire: Wire;
  readonly endpoint: string;
}

/** What the calls of a run share. */
interface Calling extends Found {
  readonly runtime: Runtime;
  readonly denial: Denial | null;
}

/** Loads the toolset, finds the operation, checks the arguments, makes the calls, and notifies the tool at the end. */
class RapRun extends CallRun<Found> {
  readonly #servers = new StartedServers(this.run.log, {
    calls: () => this.history.exchanges.values(),
    onStderr: this.verbosely && (async lines => this.verbosely?.(this.run.clean(lines))),
  });

  protected override async find(): Promise<Found> {
    const { target, operation, words } = this.plan;
    const { stdin } = this.run.terminal;
    if (target?.kind === 'endpoint') {
      const message =
        '--endpoint: no toolset was loaded, so neither the operation nor the arguments were checked';
      this.notes.push({ id: 'RT-OP', message });
      const args = (await readArguments(words, stdin))(null);
      return {
        wire: await this.#wireTo(target.url),
        endpoint: target.url,
        tool: { name: operation ?? '' },
        args,
      };
    }
    const located = target ? await this.#locateOn(target) : await this.#locateAmongConfigured();
    const { tool, wire, toolset, remarks } = located;
    const isAsked = operation === undefined && words.words.length === 0 && words.whole === undefined;
    const args = isAsked
      ? await askForArguments(tool, this.chooser.prompts)
      : (await readArguments(words, stdin))(tool.inputSchema);
    const faults = this.options.validate ? await checkArguments(tool, args) : [];
    this.notes.push(
      ...located.notes,
      ...remarks.map(message => ({ id: 'TOOL-DISCOVER', message }) as const),
      ...faults,
      ...wire.withheldFrom(toolset.endpoint),
    );
    return { wire, args, tool, endpoint: toolset.endpoint };
  }

  protected override previewOf({ wire, endpoint, tool, args }: Found) {
    const { listener, identity } = this.plan;
    const isWithheld = wire.withheldFrom(endpoint).length > 0;
    const redacted = Object.fromEntries(
      Object.keys(isWithheld ? {} : wire.headers).map(name => [name, REDACTED]),
    );
    const callback_url = `${listener.publicUrl ?? 'http://127.0.0.1:PORT'}/callback/TOKEN`;
    const request = {
      method: 'POST',
      url: endpoint,
      headers: { 'content-type': 'application/json', ...redacted },
      body: { ...invocationOf(identity, tool.name, args), callback_url },
    } as const;
    const manual = { ...request, body: { ...request.body, callback_url: PLACEHOLDER_CALLBACK } };
    return {
      text: requestText(request, manual),
      report: { request, curl: curlOf(manual) },
      advice: `before you run the curl, fill in: ${placeholdersIn(manual).join(', ')}\n`,
    };
  }

  protected override async call(found: Found, denial: Denial | null): Promise<Finish> {
    const { history, keepsBodies } = this;
    const { log, clock, onStop, signal, redactor } = this.run;
    const listener = { ...this.plan.listener, keepBodies: keepsBodies };
    const runtime = await Runtime.start({ log, history, clock, listener, onSecret: redactor.add });
    onStop(() => runtime.close());
    onStop(async () => (signal.aborted ? undefined : this.#servers.settle()));
    const { repeat } = this.options;
    const calling = { ...found, runtime, denial };
    return repeat === undefined ? this.#once(calling) : this.#repeatedly(repeat, calling);
  }

  /** Calls, reports the result immediately, waits as long as `--follow` and `--linger` require, and notifies the tool. */
  async #once(calling: Calling): Promise<Finish> {
    const { identity } = this.plan;
    const { linger = AFTER_CANCEL_MS.usual } = this.options;
    const made = await this.#make(calling, identity, this.chooser, async exchange => {
      await this.report(exchange);
      if (!calling.denial) await this.#stay(exchange);
    });
    const exchange = this.history.exchanges.get(made.key) ?? made;
    await this.#leave(calling, exchange, identity, () => delay(Math.min(linger, AFTER_CANCEL_MS.most)));
    return this.finished(exchange); // callbacks after the cancel do not change the exit status
  }

  /** `--repeat`: makes the same call several times, some in parallel, and reports each when it ends. */
  async #repeatedly(repeat: number, calling: Calling): Promise<Finish> {
    const { concurrency = 1, choose = [] } = this.options;
    const chooser = new Chooser(this.chooser.prompts, choose);
    const { exits } = this.history;
    const statuses: ExitStatus[] = [];
    let begun = 0;
    const callNext = async () => {
      begun++;
      const own = identityOf(this.options);
      const exchange = await this.#make(calling, own, chooser, async each => {
        statuses.push((await this.report(each)).status);
      });
      await this.#leave(calling, exchange, own);
    };
    const worker = async () => {
      while (begun < repeat && !this.run.signal.aborted && exits.length === 0) await callNext();
    };
    if (calling.denial) await callNext();
    else {
      const ended = await Promise.allSettled(Array.from({ length: Math.min(concurrency, repeat) }, worker));
      for (const each of ended) if (each.status === 'rejected') throw each.reason;
    }
    const missing = calling.denial ? 0 : repeat - begun;
    const [code, why] =
      exits.length > 0
        ? (['unreachable', 'the server exited'] as const)
        : (['interrupted', 'interrupted'] as const);
    const message = `${why}: ${missing} of ${repeat} ${missing === 1 ? 'call was' : 'calls were'} not made`;
    const trouble = missing === 0 ? null : { code, message };
    const status = WORST_FIRST.find(each => statuses.includes(each)) ?? statuses[0] ?? 0;
    return { exchange: undefined, trouble, status };
  }

  /** @param report reports the call, before its end is final */
  async #make(
    { runtime, wire, endpoint, tool, args, denial }: Calling,
    identity: InvokePlan['identity'],
    chooser: Chooser,
    report: (exchange: Exchange) => Promise<void>,
  ): Promise<Exchange> {
    const { timeout: timeoutMs, retries, lenientAck = false } = this.options;
    const invocation = runtime.addressed(invocationOf(identity, tool.name, args));
    const stopCancelling = denial ? () => {} : this.cancelWhenInterrupted(invocation.id);
    const call = {
      endpoint,
      invocation,
      retries,
      lenientAck,
      timeoutMs,
      pausesForUser: this.pausesForUser,
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
    const { timeout, quiet, repeat } = this.options;
    if (quiet || this.isDrawn || repeat !== undefined) return () => {};
    const waited = formatDuration(NOTICE_AFTER_MS) + (timeout === 0 ? '' : ` of ${formatDuration(timeout)}`);
    const text = `no callback has arrived yet at ${new URL(callback_url).origin} · ${waited} · Ctrl-C stops\n`;
    return this.run.clock.after(NOTICE_AFTER_MS, () => {
      if (this.history.exchanges.get(id)?.arrivals.length === 0) this.run.stderr.write(text);
    });
  }

  /** Waits as `--follow` and `--linger` require. */
  async #stay({ key, settled }: Exchange): Promise<void> {
    const { follow, linger = 0 } = this.options;
    const { log, signal, terminal } = this.run;
    const readerGone = new Promise(resolve => terminal.stdout.once('error', resolve)); // as with `| head -1`
    if (follow) await Promise.race([subscriptionEnd(log, this.history, key), readerGone]);
    if (linger === 0 || (settled?.by !== 'result' && settled?.by !== 'timeout')) return;
    await delay(linger, null, { signal }).catch(() => {});
    if (!signal.aborted) log.emit({ kind: 'expired', what: 'linger', afterMs: linger });
  }

  /** Only discovery gives the address for notices. */
  async #leave(
    { wire }: Found,
    exchange: Exchange,
    { isOurThread }: InvokePlan['identity'],
    waitForCallbacks?: () => Promise<void>,
  ): Promise<void> {
    if (this.plan.target?.kind === 'endpoint') return;
    await wire.endCall(exchange, { isOurThread, closes: this.options.close !== false, waitForCallbacks });
  }

  protected override explain(exchange: Exchange): Trouble | null {
    const { history, chooser } = this;
    const failure = failureOf(exchange, history.untracked);
    if (failure?.code !== 'decision-needed') return failure;
    if (this.options.repeat !== undefined)
      return { ...failure, message: `${failure.message}; --repeat does not ask, use --choose` };
    if (chooser.by === 'person') return failure;
    const message = `--choose ${chooser.unmatched(exchange)} is not one of the choices that the tool offers`;
    return { ...failure, message };
  }

  async #locateOn(target: ServerTarget) {
    const loaded = await this.#load(target);
    const { toolset } = loaded;
    const operation = this.plan.operation ?? (await this.#askForOperation(toolset.tools));
    return { ...loaded, tool: toolOf(toolset, operation), notes: [] };
  }

  /** A name that two toolsets define cannot be called in either (RT-TOOLSET). */
  async #locateAmongConfigured() {
    const { confirmCommands, readRapConfig, requireServers } = await import('../rap-config.js');
    const config = await readRapConfig(this.chooser.prompts.terminal);
    requireServers(config);
    const { targets, warnings } = config;
    if (!this.options.yes)
      await this.chooser.prompts.lendTerminal(() => confirmCommands(targets, this.chooser.prompts));
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
    const operation = this.plan.operation ?? (await this.#askForOperation(tools));
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
    const { onStop, signal, stderr } = this.run;
    const isSilent = this.isDrawn || this.options.quiet;
    const onRemark = (text: string) => isSilent || stderr.write(`${visibleLine(text)}\n`);
    const options = { onStop, signal, onRemark, ...this.#servers.options };
    const wire = await this.#wireTo(await startTarget(target, options));
    const { toolset, notes: remarks } = await wire.discover(HINTS, this.options.timeout);
    return { wire, toolset, remarks };
  }

  async #wireTo(url: string): Promise<Wire> {
    const { log, terminal, openClient, openPooledClient } = this.run;
    const client = this.options.repeat === undefined ? openClient() : await openPooledClient();
    return new Wire(log, client, url, readHeaders(this.options, terminal.env));
  }

  /** Asks the user for an operation. @throws ProtocolCliError `usage`, with the available names. */
  async #askForOperation(tools: readonly Tool[]): Promise<string> {
    const { canAsk, signal } = this.chooser.prompts;
    const picked = canAsk ? await this.chooser.prompts.lendTerminal(() => this.#pickOperation(tools)) : null;
    if (picked !== null) return picked;
    const names = [...new Set(tools.map(({ name }) => name))];
    throw new ProtocolCliError(
      signal.aborted ? 'interrupted' : 'usage',
      `no operation given. Available: ${joinFirst(names, MAX.names)}`,
      { hint: 'Put one of them after the URL: protocol-cli invoke <url> <operation> key=value' },
    );
  }

  async #pickOperation(tools: readonly Tool[]): Promise<string | null> {
    const lines = tools.map(
      ({ name, description }, index) => `${index + 1}  ${name}  ${truncate(description, MAX.description)}`,
    );
    this.chooser.prompts.show(`${lines.map(visibleLine).join('\n')}\n`);
    for (;;) {
      const answer = (await this.chooser.prompts.ask('Operation (number or name): '))?.trim();
      if (!answer) return null;
      const picked = tools.find(({ name }, index) => name === answer || String(index + 1) === answer);
      if (picked) return picked.name;
      this.chooser.prompts.show(`no operation ${excerpt(answer)}\n`);
    }
  }
}
