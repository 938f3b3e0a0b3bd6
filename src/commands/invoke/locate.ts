import { ProtocolCliError } from '../../errors.js';
import type { Log } from '../../exchange/log.js';
import type { Warning } from '../../protocol/requirements.js';
import type { Tool } from '../../protocol/toolset.js';
import { toolOf } from '../../runtime/check-call.js';
import { DISCOVERY_HINTS, type Discovered, type DiscoveryHints, discover } from '../../runtime/discover.js';
import type { Wire } from '../../runtime/wire.js';
import { cut } from '../../text/cut.js';
import { excerpt } from '../../text/excerpt.js';
import { firstFew } from '../../text/first-few.js';
import { visibleLine } from '../../text/visible.js';
import type { HttpClient } from '../../transport/client.js';
import { ask, isSomebodyThere } from '../ask.js';
import { confirmCommands } from '../confirm-commands.js';
import { readCredentials } from '../headers.js';
import type { OnStop } from '../interruption.js';
import { readRapConfig, requireServers } from '../rap-config.js';
import { reach } from '../reach.js';
import type { StartedServers } from '../started-server.js';
import type { ConfiguredTarget, ServerTarget } from '../target.js';
import type { Terminal } from '../terminal.js';
import type { InvokePlan } from './plan.js';

export interface Stage {
  readonly log: Log;
  readonly client: HttpClient;
  readonly terminal: Terminal;
  /** Aborted when a person wants to stop. */
  readonly signal: AbortSignal;
  /** Does something on the terminal while nobody else draws there. */
  readonly aside: <T>(work: () => Promise<T>) => Promise<T>;
  /** Takes what has to be stopped at the end. */
  readonly onStop: OnStop;
  /** Watches the servers that are started. */
  readonly servers?: StartedServers;
}

/** The one tool that will be called, and where it was found. */
export interface Located extends Loaded {
  readonly tool: Tool;
  readonly notes: readonly Warning[];
}

interface Loaded {
  readonly discovered: Discovered;
  readonly wire: Wire;
}

/**
 * The tool that offers the operation: the target's, else one of the configured servers'.
 * @throws ProtocolCliError where there is none, or where its server cannot be used.
 */
export async function locate(plan: InvokePlan, target: ServerTarget | null, stage: Stage): Promise<Located> {
  if (target) {
    const loaded = await load(plan, target, stage);
    const { toolset } = loaded.discovered;
    return { ...loaded, tool: toolOf(toolset, await operationAmong(toolset.tools, plan, stage)), notes: [] };
  }
  const config = await readRapConfig(stage.terminal);
  requireServers(config);
  const { targets, warnings } = config;
  if (!plan.options.yes) await stage.aside(() => confirmCommands(targets, stage.terminal, stage.signal));
  const servers = await Promise.allSettled(targets.map(each => load(plan, each, stage)));
  const tools = servers.flatMap(each =>
    each.status === 'fulfilled' ? each.value.discovered.toolset.tools : [],
  );
  const operation = tools.length === 0 ? '' : await operationAmong(tools, plan, stage);
  const found = pick(servers, operation, warnings);
  return { ...found, notes: [...warnings, ...found.notes] };
}

const HINTS: DiscoveryHints = {
  ...DISCOVERY_HINTS,
  missing: 'Give the base URL of the tool server. If this is the invocation endpoint itself, add --endpoint.',
};

async function load(
  plan: InvokePlan,
  target: ConfiguredTarget,
  { client, log, terminal, onStop, signal, servers }: Stage,
): Promise<Loaded> {
  const url = await reach(target, { onStop, signal, ...servers?.options });
  const wire = { client, log, credentials: readCredentials(plan.options, url, terminal.env) };
  return { wire, discovered: await discover(wire, url, HINTS) };
}

/** A name that two toolsets define is available from neither (RT-TOOLSET); a server that is down is no reason to give up. */
function pick(
  servers: readonly PromiseSettledResult<Loaded>[],
  operation: string,
  warnings: readonly Warning[],
): Located {
  const loaded = servers.flatMap(server => (server.status === 'fulfilled' ? [server.value] : []));
  const failures = servers.flatMap(server =>
    server.status === 'rejected' ? [server.reason as unknown] : [],
  );
  if (loaded.length === 0) throw failures[0];
  const offers = loaded.flatMap(each =>
    each.discovered.toolset.tools.filter(({ name }) => name === operation).map(tool => ({ ...each, tool })),
  );
  const [offer] = offers;
  if (offer && offers.length === 1) return { ...offer, notes: failures.map(unusable) };
  const names = loaded.flatMap(each => each.discovered.toolset.tools.map(({ name }) => name)).join(', ');
  const message = offer
    ? `"${operation}" is defined by ${offers.length} toolsets, so neither is used (RT-TOOLSET)`
    : `no configured toolset has an operation "${operation}"`;
  const faults = [...warnings, ...failures.map(unusable)].map(({ message }) => message);
  throw new ProtocolCliError('unknown-operation', message, {
    faults,
    hint: offer ? 'Name the tool by its URL.' : `There are: ${names}.`,
  });
}

function unusable(failure: unknown): Warning {
  const reason = failure instanceof Error ? failure.message : String(failure);
  return { message: `a configured tool server could not be used: ${reason}` };
}

/** Asks the person at the terminal for an operation when none is given. @throws ProtocolCliError `usage`, with all that there are. */
async function operationAmong(tools: readonly Tool[], plan: InvokePlan, stage: Stage): Promise<string> {
  if (plan.operation !== undefined) return plan.operation;
  const names = [...new Set(tools.map(({ name }) => name))];
  const picked = isSomebodyThere(stage.terminal)
    ? await stage.aside(() => pickOperation(tools, stage))
    : null;
  if (picked !== null) return picked;
  throw new ProtocolCliError(
    stage.signal.aborted ? 'interrupted' : 'usage',
    `no operation given. Available: ${firstFew(names, MOST_NAMES)}`,
    { hint: 'Put one of them after the URL: protocol-cli invoke <url> <operation> key=value' },
  );
}

/** Null where nothing was chosen. */
async function pickOperation(tools: readonly Tool[], { terminal, signal }: Stage): Promise<string | null> {
  const lines = tools.map(
    ({ name, description }, index) => `${index + 1}  ${name}  ${cut(description, MOST_DESCRIPTION)}`,
  );
  terminal.stderr.write(`${lines.map(visibleLine).join('\n')}\n`);
  for (;;) {
    const answer = (await ask('Operation (number or name): ', terminal, signal))?.trim();
    if (answer === undefined || answer === '') return null;
    const picked = tools.find(({ name }, index) => name === answer || String(index + 1) === answer);
    if (picked) return picked.name;
    terminal.stderr.write(`no operation ${excerpt(answer)}\n`);
  }
}

const MOST_NAMES = 60;
const MOST_DESCRIPTION = 60;

/** @throws ProtocolCliError `usage` where none is named. */
export function operationOf({ operation }: InvokePlan): string {
  if (operation !== undefined) return operation;
  throw new ProtocolCliError('usage', 'no operation given', {
    hint: 'protocol-cli toolset lists what the configured tools offer.',
  });
}
