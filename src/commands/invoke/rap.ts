import { setTimeout as delay } from 'node:timers/promises';
import type { Exchange } from '../../events/exchange.js';
import type { Invocation } from '../../protocol/invocation.js';
import type { Warning } from '../../protocol/requirements.js';
import type { Tool } from '../../protocol/toolset.js';
import { failureOf } from '../../render/failure.js';
import type { Trouble } from '../../render/outputs/trouble.js';
import { checkArguments, toolOf } from '../../runtime/check-call.js';
import { Runtime, subscriptionEnd } from '../../runtime/runtime.js';
import { DISCOVERY_HINTS, Wire } from '../../runtime/wire.js';
import { ProtocolCliError } from '../../util/errors.js';
import { LIMITS } from '../../util/limits.js';
import { shellWord } from '../../util/shell-word.js';
import { formatDuration } from '../../util/text.js';
import { visibleLine } from '../../util/visible.js';
import { readHeaders } from '../headers.js';
import { asTrouble, type Run } from '../run.js';
import { StartedServers, startTarget } from '../started-servers.js';
import { type ConfiguredTarget, type ServerTarget, targetWords } from '../target.js';
import type { Prompts } from '../terminal.js';
import { askForArguments, readArguments } from './arguments.js';
import { askForOperation } from './ask-operation.js';
import type { CallOutput } from './output.js';
import {
  type CallIdentity,
  type InvokeOptions,
  type InvokePlan,
  invocationOf,
  NOTICE_AFTER_MS,
} from './plan.js';
import type { CallProtocol, CallRequest, EndedCall, FoundTool } from './protocol.js';
import type { Chooser } from './questions.js';
import { previewOf } from './request.js';

const HINTS = {
  ...DISCOVERY_HINTS,
  empty: 'This may be the endpoint: give the base URL of the tool server, or add --endpoint.',
  missing:
    'Give the base URL of the tool server. If this is the invocation endpoint itself, add --endpoint. For an MCP server, use --mcp.',
};

/** After a cancel, shows callbacks that are already in transit; with `--linger` for at most two seconds. */
const AFTER_CANCEL_MS = { usual: 300, most: 2_000 };

/** How long a terminal shows what a tool sends right after the result, such as a second result; in a pipe nobody waits for that. */
const AFTER_RESULT_MS = 250;

/** A RAP tool that was found, and the arguments of the call. */
interface Found {
  readonly tool: Pick<Tool, 'name' | 'annotations'>;
  readonly args: Record<string, unknown>;
  readonly wire: Wire;
  readonly endpoint: string;
}

/** Loads the toolset, finds the operation, checks the arguments; makes calls, and notifies the tool at their end. */
export class RapProtocol implements CallProtocol {
  readonly #options: InvokeOptions;
  readonly #prompts: Prompts;
  readonly #notes: Warning[] = [];
  readonly #servers: StartedServers;
  /** Started by the first call. */
  #runtime: Promise<Runtime> | undefined;

  constructor(
    private readonly plan: InvokePlan,
    private readonly run: Run,
    private readonly output: CallOutput,
    private readonly chooser: Chooser,
  ) {
    const { history, verbosely } = output;
    this.#options = plan.options;
    this.#prompts = chooser.prompts;
    this.#servers = new StartedServers(run.log, {
      calls: () => history.exchanges.values(),
      onStderr: verbosely && (async lines => verbosely(run.clean(lines))),
    });
  }

  notes(): readonly Warning[] {
    return this.#notes;
  }

  async find(): Promise<FoundTool> {
    const found = await this.#find();
    const { tool, args } = found;
    return {
      tool,
      args,
      preview: () => previewOf(found, this.plan),
      call: request => this.#call(found, request),
    };
  }

  async #find(): Promise<Found> {
    const { target, operation, words } = this.plan;
    const { stdin } = this.run.terminal;
    if (target?.kind === 'endpoint') {
      const message =
        '--endpoint: no toolset was loaded, so neither the operation nor the arguments were checked';
      this.#notes.push({ id: 'RT-OP', message });
      const args = (await readArguments(words, stdin))(null);
      const tool = { name: operation ?? '' };
      return { tool, args, wire: await this.#wireTo(target.url), endpoint: target.url };
    }
    const located = target ? await this.#locateOn(target) : await this.#locateAmongConfigured();
    const { tool, wire, toolset, remarks } = located;
    const isAsked = operation === undefined && words.words.length === 0 && words.whole === undefined;
    const args = isAsked
      ? await askForArguments(tool, this.#prompts)
      : (await readArguments(words, stdin))(tool.inputSchema);
    const faults = this.#options.validate ? await checkArguments(tool, args) : [];
    this.#notes.push(
      ...located.notes,
      ...remarks.map(message => ({ id: 'TOOL-DISCOVER', message }) as const),
      ...faults,
      ...wire.withheldFrom(toolset.endpoint),
    );
    return { tool, args, wire, endpoint: toolset.endpoint };
  }

  /** Calls, reports the result immediately, waits as long as `--follow` and `--linger` require, and notifies the tool. */
  async #call(
    { wire, endpoint, tool, args }: Found,
    { identity, denial, pausesForUser, report }: CallRequest,
  ): Promise<EndedCall> {
    const { chooser, run } = this;
    const { timeout: timeoutMs, retries, lenientAck = false } = this.#options;
    this.#runtime ??= this.#startRuntime();
    const runtime = await this.#runtime;
    const invocation = runtime.addressed(invocationOf(identity, tool.name, args));
    const stopCancelling = denial ? () => {} : run.cancelWhenInterrupted(invocation.id);
    const stopWaiting = (pending: Exchange) => chooser.isLeftOpen(pending);
    const call = { endpoint, invocation, retries, lenientAck, timeoutMs, pausesForUser, stopWaiting };
    const made = denial
      ? runtime.deny(invocation, denial)
      : await runtime.invoke(wire, call, chooser).finally(this.#announceWait(invocation));
    await report({ exchange: made, trouble: this.explain(made) });
    if (!denial) await this.#stay(made);
    stopCancelling();
    const exchange = this.output.history.exchanges.get(made.key) ?? made;
    await this.#leave(wire, exchange, identity);
    return { exchange, trouble: this.explain(exchange) }; // callbacks after the cancel do not change the exit status
  }

  async #startRuntime(): Promise<Runtime> {
    const { log, clock, onStop, signal, redactor } = this.run;
    const { history, keepsBodies: keepBodies } = this.output;
    const listener = { ...this.plan.listener, keepBodies };
    const runtime = await Runtime.start({ log, history, clock, listener, onSecret: redactor.add });
    onStop(() => runtime.close());
    onStop(async () => (signal.aborted ? undefined : this.#servers.settle()));
    return runtime;
  }

  /** Prints what a long wait is for: the usual reason is a tool that cannot reach the callback URL. */
  #announceWait({ id, callback_url }: Pick<Invocation, 'id' | 'callback_url'>): () => void {
    const { timeout, quiet, repeat } = this.#options;
    const { history, isDrawn } = this.output;
    if (quiet || isDrawn || repeat !== undefined) return () => {};
    const waited = formatDuration(NOTICE_AFTER_MS) + (timeout === 0 ? '' : ` of ${formatDuration(timeout)}`);
    const text = `no callback has arrived yet at ${new URL(callback_url).origin} · ${waited} · Ctrl-C stops\n`;
    return this.run.clock.after(NOTICE_AFTER_MS, () => {
      if (history.exchanges.get(id)?.arrivals.length === 0) this.run.stderr.write(text);
    });
  }

  /** Waits as `--follow` and `--linger` require. */
  async #stay({ key, settled }: Exchange): Promise<void> {
    const { follow, linger = 0, repeat } = this.#options;
    const { log, signal, terminal } = this.run;
    if (follow) {
      const readerGone = new Promise(resolve => terminal.stdout.once('error', resolve)); // as with `| head -1`
      await Promise.race([subscriptionEnd(log, this.output.history, key), readerGone]);
    }
    if (linger === 0 && settled?.by === 'result' && repeat === undefined && terminal.stdout.isTTY === true)
      await delay(AFTER_RESULT_MS, null, { signal }).catch(() => {});
    if (linger === 0 || (settled?.by !== 'result' && settled?.by !== 'timeout')) return;
    await delay(linger, null, { signal }).catch(() => {});
    if (!signal.aborted) log.emit({ kind: 'expired', what: 'linger', afterMs: linger });
  }

  /** Only discovery gives the address for notices. */
  async #leave(wire: Wire, exchange: Exchange, { isOurThread }: CallIdentity): Promise<void> {
    const { repeat, close, linger = AFTER_CANCEL_MS.usual } = this.#options;
    if (this.plan.target?.kind === 'endpoint') return;
    const waitForCallbacks =
      repeat === undefined ? () => delay(Math.min(linger, AFTER_CANCEL_MS.most)) : undefined;
    await wire.endCall(exchange, { isOurThread, closes: close !== false, waitForCallbacks });
  }

  explain(exchange: Exchange): Trouble | null {
    const { chooser } = this;
    const failure = failureOf(exchange, this.output.history.untracked);
    if (failure?.code !== 'decision-needed') return failure;
    if (this.#options.repeat !== undefined)
      return { ...failure, message: `${failure.message}; --repeat does not ask, use --choose` };
    if (chooser.by === 'person') return failure;
    const message = `--choose ${chooser.unmatched(exchange)} is not one of the choices that the tool offers`;
    return { ...failure, message };
  }

  async #locateOn(target: ServerTarget) {
    const loaded = await this.#load(target);
    const { toolset } = loaded;
    const operation =
      this.plan.operation ?? (await askForOperation(toolset.tools, this.#prompts, this.chooser.pick));
    return { ...loaded, tool: toolOf(toolset, operation), notes: [] };
  }

  /** A name that two toolsets define cannot be called in either (RT-TOOLSET). */
  async #locateAmongConfigured() {
    const { confirmCommands, readRapConfig, requireServers } = await import('../rap-config.js');
    const config = await readRapConfig(this.#prompts.terminal);
    requireServers(config);
    const { targets, warnings } = config;
    if (!this.#options.yes) await this.#prompts.lendTerminal(() => confirmCommands(targets, this.#prompts));
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
    const operation = this.plan.operation ?? (await askForOperation(tools, this.#prompts, this.chooser.pick));
    const [first, ...others] = offers.filter(({ tool }) => tool.name === operation);
    const faults = notes.map(({ message }) => message);
    if (first && others.length === 0) return first;
    if (first)
      throw new ProtocolCliError(
        'unknown-operation',
        `"${operation}" is defined by ${others.length + 1} toolsets, so neither is used (RT-TOOLSET)`,
        { faults, hint: `Name the server: ${[first, ...others].map(({ by }) => by).join(', or ')}.` },
      );
    throw new ProtocolCliError('unknown-operation', `no configured toolset has an operation "${operation}"`, {
      faults,
      hint: `Available: ${tools.map(({ name }) => name).join(', ')}.`,
    });
  }

  async #load(target: ConfiguredTarget) {
    const { onStop, signal, stderr } = this.run;
    const isSilent = this.output.isDrawn || this.#options.quiet;
    const onRemark = (text: string) => isSilent || stderr.write(`${visibleLine(text)}\n`);
    const options = { onStop, signal, onRemark, ...this.#servers.options };
    const wire = await this.#wireTo(await startTarget(this.#startedInTime(target), options));
    this.run.keepNamesOf(wire, target);
    const { toolset, notes: remarks } = await wire.discover(HINTS, this.#options.timeout);
    return {
      wire,
      toolset,
      remarks,
      by: targetWords(target, wire.base)
        .map(word => shellWord(word, process.platform))
        .join(' '),
    };
  }

  /** Without `--ready-timeout`, a shorter `--timeout` also limits the start of a server. */
  #startedInTime(target: ConfiguredTarget): ConfiguredTarget {
    const { timeout } = this.#options;
    if (target.kind !== 'command' || target.readyWithinMs !== undefined) return target;
    return timeout > 0 && timeout < LIMITS.discoveryMs.value ? { ...target, readyWithinMs: timeout } : target;
  }

  async #wireTo(url: string): Promise<Wire> {
    const { log, terminal, openClient, openPooledClient } = this.run;
    const client = this.#options.repeat === undefined ? openClient() : await openPooledClient();
    return new Wire(log, client, url, readHeaders(this.#options, terminal.env));
  }
}
