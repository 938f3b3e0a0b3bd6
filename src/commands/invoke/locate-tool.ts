import type { Warning } from '../../protocol/requirements.js';
import type { Tool, Toolset } from '../../protocol/toolset.js';
import { toolOf } from '../../runtime/check-call.js';
import { DISCOVERY_HINTS, Wire } from '../../runtime/wire.js';
import { ProtocolCliError } from '../../util/errors.js';
import { LIMITS } from '../../util/limits.js';
import { shellWord } from '../../util/shell-word.js';
import { visibleLine } from '../../util/visible.js';
import { readHeaders } from '../headers.js';
import { asTrouble, type Run } from '../run.js';
import { StartedServers, startTarget } from '../started-servers.js';
import { type ConfiguredTarget, type ServerTarget, targetWords } from '../target.js';
import { askForOperation } from './ask-operation.js';
import type { CallOutput } from './output.js';
import type { InvokePlan } from './plan.js';
import type { Chooser } from './questions.js';

const HINTS = {
  ...DISCOVERY_HINTS,
  empty: 'This may be the endpoint: give the base URL of the tool server, or add --endpoint.',
  missing:
    'Give the base URL of the tool server. If this is the invocation endpoint itself, add --endpoint. For an MCP server, use --mcp.',
};

/** A tool server whose toolset was loaded. */
interface LoadedServer {
  readonly wire: Wire;
  readonly toolset: Toolset;
  /** What is wrong with the toolset. */
  readonly notes: readonly Warning[];
  /** The words by which `invoke` finds the server. */
  readonly words: string;
}

/** An operation, and the server that has it. */
export interface LocatedTool extends LoadedServer {
  readonly tool: Tool;
}

/** Finds the tool of a call: starts its server, loads the toolset, and asks for the operation if none was given. */
export class ToolLocator {
  readonly #servers: StartedServers;

  constructor(
    private readonly plan: InvokePlan,
    private readonly run: Run,
    private readonly output: CallOutput,
    private readonly chooser: Chooser,
  ) {
    const { history, verbosely } = output;
    this.#servers = new StartedServers(run.log, {
      calls: () => history.exchanges.values(),
      onStderr: verbosely && (async lines => verbosely(run.clean(lines))),
    });
  }

  /** @param target null for the servers of `.infinity/rap.json` @throws ProtocolCliError with the cause. */
  locate(target: ServerTarget | null): Promise<LocatedTool> {
    return target ? this.#locateOn(target) : this.#locateAmongConfigured();
  }

  async wireTo(url: string): Promise<Wire> {
    const { log, terminal, openClient, openPooledClient } = this.run;
    const { options } = this.plan;
    const client = options.repeat === undefined ? openClient() : await openPooledClient();
    return new Wire(log, client, url, readHeaders(options, terminal.env));
  }

  /** Waits briefly for a started server whose connection broke: it may be exiting. */
  settleServers(): Promise<void> {
    return this.#servers.settle();
  }

  /** The last lines that the started servers wrote to stderr until now. */
  lastLines(): readonly string[] {
    return this.#servers.lastLines();
  }

  async #locateOn(target: ServerTarget): Promise<LocatedTool> {
    const server = await this.#load(target);
    const { toolset } = server;
    return { ...server, tool: toolOf(toolset, await this.#operationOf(toolset.tools)) };
  }

  /** A name that two toolsets define cannot be called in either (RT-TOOLSET). */
  async #locateAmongConfigured(): Promise<LocatedTool> {
    const { confirmCommands, readRapConfig, requireServers } = await import('../rap-config.js');
    const { prompts } = this.chooser;
    const config = await readRapConfig(prompts.terminal);
    requireServers(config);
    const { targets, warnings } = config;
    if (!this.plan.options.yes) await prompts.lendTerminal(() => confirmCommands(targets, prompts));
    const loading = await Promise.allSettled(targets.map(each => this.#load(each)));
    const loaded = loading.flatMap(each => (each.status === 'fulfilled' ? [each.value] : []));
    const failures = loading.flatMap(each => (each.status === 'rejected' ? [asTrouble(each.reason)] : []));
    if (loaded.length === 0) throw failures[0];
    const unusable = failures.map(({ message }) => ({
      message: `a configured tool server could not be used: ${message}`,
    }));
    const notes = [...warnings, ...unusable];
    const offers = loaded.flatMap(server => server.toolset.tools.map(tool => ({ ...server, tool })));
    const tools = offers.map(({ tool }) => tool);
    const operation = await this.#operationOf(tools);
    const offered = offers.filter(({ tool }) => tool.name === operation);
    const [only, ...others] = offered;
    if (only && others.length === 0) return { ...only, notes: [...notes, ...only.notes] };
    const faults = notes.map(({ message }) => message);
    throw only ? ambiguousOperation(operation, offered, faults) : unknownOperation(operation, tools, faults);
  }

  async #operationOf(tools: readonly Tool[]): Promise<string> {
    const { prompts, pick } = this.chooser;
    return this.plan.operation ?? (await askForOperation(tools, prompts, pick));
  }

  async #load(target: ConfiguredTarget): Promise<LoadedServer> {
    const { onStop, signal, stderr } = this.run;
    const { quiet, timeout } = this.plan.options;
    const isSilent = this.output.isDrawn || quiet;
    const onRemark = (text: string) => isSilent || stderr.write(`${visibleLine(text)}\n`);
    const options = { onStop, signal, onRemark, ...this.#servers.options };
    const wire = await this.wireTo(await startTarget(this.#startedInTime(target), options));
    this.run.keepNamesOf(wire, target);
    const { toolset, notes: remarks } = await wire.discover(HINTS, timeout);
    return {
      wire,
      toolset,
      notes: remarks.map(message => ({ id: 'TOOL-DISCOVER', message })),
      words: targetWords(target, wire.base)
        .map(word => shellWord(word, process.platform))
        .join(' '),
    };
  }

  /** Without `--ready-timeout`, a shorter `--timeout` also limits the start of a server. */
  #startedInTime(target: ConfiguredTarget): ConfiguredTarget {
    const { timeout } = this.plan.options;
    if (target.kind !== 'command' || target.readyWithinMs !== undefined) return target;
    return timeout > 0 && timeout < LIMITS.discoveryMs.value ? { ...target, readyWithinMs: timeout } : target;
  }
}

/** @param offered by more than one server */
function ambiguousOperation(
  operation: string,
  offered: readonly LocatedTool[],
  faults: readonly string[],
): ProtocolCliError {
  return new ProtocolCliError(
    'unknown-operation',
    `"${operation}" is defined by ${offered.length} toolsets, so neither is used (RT-TOOLSET)`,
    { faults, hint: `Name the server: ${offered.map(({ words }) => words).join(', or ')}.` },
  );
}

function unknownOperation(
  operation: string,
  tools: readonly Tool[],
  faults: readonly string[],
): ProtocolCliError {
  return new ProtocolCliError('unknown-operation', `no configured toolset has an operation "${operation}"`, {
    faults,
    hint: `Available: ${tools.map(({ name }) => name).join(', ')}.`,
  });
}
