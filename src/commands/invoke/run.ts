import { setTimeout as delay } from 'node:timers/promises';
import type { Exchange } from '../../events/exchange.js';
import type { Warning } from '../../protocol/requirements.js';
import type { Tool } from '../../protocol/toolset.js';
import { failureOf } from '../../render/failure.js';
import type { Trouble } from '../../render/outputs/trouble.js';
import { checkArguments, DISCOVERY_HINTS, discover, toolOf } from '../../runtime/discover.js';
import { endCall, type Wire } from '../../runtime/notices.js';
import { usesAnnotations } from '../../runtime/policy.js';
import { Runtime, subscriptionEnd } from '../../runtime/runtime.js';
import { secretsOf } from '../../util/credentials.js';
import { ProtocolCliError } from '../../util/errors.js';
import { REDACTED } from '../../util/redact.js';
import { cut, excerpt, firstFew } from '../../util/text.js';
import { visibleLine } from '../../util/visible.js';
import { usage } from '../options.js';
import { confirmCommands, readRapConfig, requireServers } from '../rap-config.js';
import { asTrouble, withErrorReport, withRun } from '../run.js';
import {
  type ConfiguredTarget,
  type ReachOptions,
  reach,
  readCredentials,
  readHeaders,
  type ServerTarget,
  StartedServers,
  withheld,
} from '../target.js';
import { ask, canAskUser, type ExitStatus, type Terminal } from '../terminal.js';
import { askForArguments, readArguments } from './arguments.js';
import { type CallRun, type Finish, finishOf, runCall } from './call-run.js';
import { curlOf, gapsIn, requestText, showPreview, YOUR_CALLBACK } from './dry-run.js';
import { type InvokeOptions, type InvokePlan, identityOf, invocationOf, planInvoke } from './plan.js';
import {
  answeringWith,
  type Chooser,
  type Denial,
  isLeftOpen,
  type Prompts,
  promptsOf,
  unmatchedAnswer,
} from './questions.js';

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
 * `--dry-run`: prints the request. Discovery is still sent: without it neither the endpoint nor the types of the arguments are known.
 */
function dryRun(plan: InvokePlan, terminal: Terminal): Promise<ExitStatus> {
  const secrets = secretsOf(readHeaders(plan.options, terminal.env));
  return withRun({ terminal, secrets }, async run => {
    const wire = { log: run.log, client: run.openClient() };
    const preparation = new Preparation(plan, wire, promptsOf(run), run);
    const prepared = await run.interrupted.race(preparation.prepare());
    const { tool, endpoint, notes } = prepared;
    const { headers, origin } = prepared.wire.credentials;
    const sent = new URL(endpoint).origin === origin ? Object.keys(headers) : [];
    const redacted = Object.fromEntries(sent.map(name => [name, REDACTED]));
    const callback_url = `${plan.listener.publicUrl ?? 'http://127.0.0.1:PORT'}/callback/TOKEN`;
    const request = {
      method: 'POST',
      url: endpoint,
      headers: { 'content-type': 'application/json', ...redacted },
      body: { ...invocationOf(plan.identity, tool.name, prepared.args), callback_url },
    } as const;
    const byHand = { ...request, body: { ...request.body, callback_url: YOUR_CALLBACK } };
    return showPreview(
      {
        tool,
        text: requestText(request, byHand),
        report: { request, curl: curlOf(byHand) },
        warnings: notes,
        advice: `before you run the curl, fill in: ${gapsIn(byHand).join(', ')}\n`,
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
  const preparation = new Preparation(plan, { log, client }, call.prompts, starting);
  const prepared = await run.interrupted.race(preparation.prepare());
  call.notes = () => [...prepared.notes, ...servers.warnings];
  if (policy && prepared.base === null && usesAnnotations(policy))
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

/** After a cancel, shows callbacks that are already in transit; with `--linger` for at most two seconds. */
const AFTER_CANCEL_MS = { usual: 300, most: 2_000 };

/** The status of the first match is returned, from the most specific to the least. */
const WORST_FIRST: readonly ExitStatus[] = [4, 7, 6, 5, 0];

/** Makes the prepared call, or records that it is denied. */
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
    call.explain = exchange => this.#troubleOf(exchange);
  }

  /** Calls, reports the result immediately, waits as long as `--follow` and `--linger` require, and notifies the tool. */
  async once(): Promise<Finish> {
    const { call, denial } = this;
    const { linger = AFTER_CANCEL_MS.usual } = this.#options;
    const made = await this.#make(call.plan.identity, call.chooser, async exchange => {
      await call.report(exchange, this.#troubleOf(exchange));
      if (!denial) await this.#stay(exchange);
    });
    const exchange = call.output.history.exchanges.get(made.key) ?? made;
    await this.#leave(exchange, call.plan.identity, () => delay(Math.min(linger, AFTER_CANCEL_MS.most)));
    return finishOf(exchange, this.#troubleOf(exchange)); // callbacks after the cancel do not change the exit status
  }

  /** `--repeat`: makes the same call several times, some in parallel, and reports each when it ends. */
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

  /** @param report reports the call, before its end is final */
  async #make(
    identity: InvokePlan['identity'],
    chooser: Chooser,
    report: (exchange: Exchange) => Promise<void>,
  ): Promise<Exchange> {
    const { call, runtime, denial } = this;
    const { timeout: timeoutMs, retries, lenientAck = false } = this.#options;
    const { wire, endpoint, tool, args } = this.prepared;
    const { invocation, token } = runtime.withCallbackUrl(invocationOf(identity, tool.name, args));
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
        pausesForUser: call.pausesForUser,
        stopWaiting: pending => isLeftOpen(pending, chooser),
      },
      answeringWith(chooser),
    );
    await report(exchange);
    stopCancelling();
    return exchange;
  }

  /** Waits as `--follow` and `--linger` require. */
  async #stay({ key, settled }: Exchange): Promise<void> {
    const { follow, linger = 0 } = this.#options;
    const { run, output } = this.call;
    const { log, signal, terminal } = run;
    const readerGone = new Promise(resolve => terminal.stdout.once('error', resolve)); // as with `| head -1`
    if (follow) await Promise.race([subscriptionEnd(log, output.history, key), readerGone]);
    if (linger === 0 || (settled?.by !== 'result' && settled?.by !== 'timeout')) return;
    await delay(linger, null, { signal }).catch(() => {});
    if (!signal.aborted) log.emit({ kind: 'expired', what: 'linger', afterMs: linger });
  }

  #leave(
    exchange: Exchange,
    { isOurThread }: InvokePlan['identity'],
    waitForCallbacks = async () => {},
  ): Promise<void> {
    const { wire, base } = this.prepared;
    const closes = this.#options.close !== false;
    return endCall(exchange, { wire, base, isOurThread, closes, waitForCallbacks });
  }

  #troubleOf(exchange: Exchange): Trouble | null {
    const failure = this.servers.explain(failureOf(exchange, this.call.output.history.untracked));
    const { choose, repeat } = this.#options;
    if (failure?.code !== 'decision-needed') return failure;
    if (repeat !== undefined)
      return { ...failure, message: `${failure.message}; --repeat does not ask, use --choose` };
    if (choose === undefined) return failure;
    const message = `--choose ${unmatchedAnswer(exchange, choose)} is not one of the choices that the tool offers`;
    return { ...failure, message };
  }
}

type Prepared = Awaited<ReturnType<Preparation['prepare']>>;

const HINTS = {
  ...DISCOVERY_HINTS,
  missing: 'Give the base URL of the tool server. If this is the invocation endpoint itself, add --endpoint.',
};

/** Limits for the list of operations: number of names, and length of a description. */
const MAX = { names: 60, description: 60 };

/** Loads the toolset, finds the operation, and checks the arguments. */
class Preparation {
  constructor(
    private readonly plan: InvokePlan,
    private readonly wire: Omit<Wire, 'credentials'>,
    private readonly prompts: Prompts,
    private readonly starting: ReachOptions,
  ) {}

  /** @throws ProtocolCliError with the cause. */
  async prepare() {
    const { target, operation, options, words } = this.plan;
    const { stdin } = this.prompts.terminal;
    if (target?.kind === 'endpoint') {
      const message =
        '--endpoint: no toolset was loaded, so neither the operation nor the arguments were checked';
      return {
        wire: this.#wireTo(target.url),
        endpoint: target.url,
        base: null,
        tool: { name: operation ?? '' },
        args: await readArguments(words, null, stdin),
        notes: [{ id: 'RT-OP', message }] as readonly Warning[],
      };
    }
    const located = target ? await this.#locateOn(target) : await this.#locateAmongConfigured();
    const { tool, wire, discovered } = located;
    const { base, toolset, notes } = discovered;
    const isAsked = operation === undefined && words.words.length === 0 && words.whole === undefined;
    const args = isAsked
      ? await askForArguments(tool, this.prompts)
      : await readArguments(words, tool.inputSchema, stdin);
    const warnings: readonly Warning[] = [
      ...located.notes,
      ...notes.map(message => ({ id: 'TOOL-DISCOVER', message }) as const),
      ...(options.validate ? await checkArguments(tool, args) : []),
      ...withheld(wire.credentials, toolset.endpoint),
    ];
    return { wire, base, args, tool, endpoint: toolset.endpoint, notes: warnings };
  }

  async #locateOn(target: ServerTarget) {
    const loaded = await this.#load(target);
    const { toolset } = loaded.discovered;
    const operation = this.plan.operation ?? (await this.#askForOperation(toolset.tools));
    return { ...loaded, tool: toolOf(toolset, operation), notes: [] };
  }

  /** A name that two toolsets define cannot be called in either (RT-TOOLSET). */
  async #locateAmongConfigured() {
    const { terminal, aside, signal } = this.prompts;
    const config = await readRapConfig(terminal);
    requireServers(config);
    const { targets, warnings } = config;
    if (!this.plan.options.yes) await aside(() => confirmCommands(targets, terminal, signal));
    const servers = await Promise.allSettled(targets.map(each => this.#load(each)));
    const loaded = servers.flatMap(each => (each.status === 'fulfilled' ? [each.value] : []));
    const failures = servers.flatMap(each => (each.status === 'rejected' ? [asTrouble(each.reason)] : []));
    if (loaded.length === 0) throw failures[0];
    const unusable = failures.map(({ message }) => ({
      message: `a configured tool server could not be used: ${message}`,
    }));
    const notes = [...warnings, ...unusable];
    const offers = loaded.flatMap(each =>
      each.discovered.toolset.tools.map(tool => ({ ...each, tool, notes })),
    );
    const tools = offers.map(({ tool }) => tool);
    const operation = this.plan.operation ?? (await this.#askForOperation(tools));
    const [first, ...others] = offers.filter(({ tool }) => tool.name === operation);
    const faults = notes.map(({ message }) => message);
    if (!first)
      throw new ProtocolCliError(
        'unknown-operation',
        `no configured toolset has an operation "${operation}"`,
        {
          faults,
          hint: `Available: ${tools.map(({ name }) => name).join(', ')}.`,
        },
      );
    if (others.length === 0) return first;
    const message = `"${operation}" is defined by ${others.length + 1} toolsets, so neither is used (RT-TOOLSET)`;
    throw new ProtocolCliError('unknown-operation', message, { faults, hint: 'Name the tool by its URL.' });
  }

  async #load(target: ConfiguredTarget) {
    const url = await reach(target, this.starting);
    const wire = this.#wireTo(url);
    return { wire, discovered: await discover(wire, url, HINTS, this.plan.options.timeout) };
  }

  #wireTo(url: string): Wire {
    return { ...this.wire, credentials: readCredentials(this.plan.options, url, this.prompts.terminal.env) };
  }

  /** Asks the user for an operation. @throws ProtocolCliError `usage`, with the available names. */
  async #askForOperation(tools: readonly Tool[]): Promise<string> {
    const { terminal, signal, aside } = this.prompts;
    const picked = canAskUser(terminal) ? await aside(() => this.#pickOperation(tools)) : null;
    if (picked !== null) return picked;
    const names = [...new Set(tools.map(({ name }) => name))];
    throw new ProtocolCliError(
      signal.aborted ? 'interrupted' : 'usage',
      `no operation given. Available: ${firstFew(names, MAX.names)}`,
      { hint: 'Put one of them after the URL: protocol-cli invoke <url> <operation> key=value' },
    );
  }

  async #pickOperation(tools: readonly Tool[]): Promise<string | null> {
    const { terminal, signal } = this.prompts;
    const lines = tools.map(
      ({ name, description }, index) => `${index + 1}  ${name}  ${cut(description, MAX.description)}`,
    );
    terminal.stderr.write(`${lines.map(visibleLine).join('\n')}\n`);
    for (;;) {
      const answer = (await ask('Operation (number or name): ', terminal, signal))?.trim();
      if (!answer) return null;
      const picked = tools.find(({ name }, index) => name === answer || String(index + 1) === answer);
      if (picked) return picked.name;
      terminal.stderr.write(`no operation ${excerpt(answer)}\n`);
    }
  }
}
