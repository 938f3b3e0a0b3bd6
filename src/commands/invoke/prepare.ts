import { ProtocolCliError } from '../../errors.js';
import type { Log } from '../../exchange/log.js';
import type { Warning } from '../../protocol/requirements.js';
import type { Tool } from '../../protocol/toolset.js';
import { checkArguments, toolOf } from '../../runtime/check-call.js';
import { type Discovered, discover } from '../../runtime/discover.js';
import type { Wire } from '../../runtime/wire.js';
import type { HttpClient } from '../../transport/client.js';
import { readCredentials } from '../headers.js';
import { type Reached, reach } from '../reach.js';
import { configuredTargets, type Target } from '../target.js';
import type { Terminal } from '../terminal.js';
import { readArguments } from './arguments.js';
import { confirmDestructive } from './consent.js';
import type { InvokePlan } from './plan.js';

/** Everything an invocation needs besides its callback URL. */
export interface Prepared {
  readonly wire: Wire;
  readonly endpoint: string;
  /** Where notices go; null where there was no discovery. */
  readonly base: string | null;
  readonly operation: string;
  readonly args: Record<string, unknown>;
  readonly notes: readonly Warning[];
}

export interface Stage {
  readonly log: Log;
  readonly client: HttpClient;
  readonly terminal: Terminal;
  /** Takes what has to be stopped at the end. */
  readonly onStop: (stop: () => Promise<void>) => void;
}

/**
 * From a plan to a call that may be sent: the tool reached, its toolset loaded, the operation known, the arguments checked,
 * consent given.
 * @throws ProtocolCliError saying what is wrong.
 */
export async function prepare(plan: InvokePlan, stage: Stage): Promise<Prepared> {
  if (plan.target?.kind === 'endpoint') return prepareEndpoint(plan, plan.target.url, stage);
  const found = await locate(plan, stage);
  const { tool, discovered, wire } = found;
  const args = await readArguments(plan.words, tool.inputSchema, stage.terminal.stdin);
  const unchecked = plan.options.validate ? await checkArguments(tool, args) : [];
  await confirmDestructive(tool, args, plan.options.yes === true, stage.terminal);
  const { base, toolset, notes } = discovered;
  return {
    wire,
    base,
    args,
    endpoint: toolset.endpoint,
    operation: tool.name,
    notes: [
      ...notes.map(message => ({ id: 'TOOL-DISCOVER', message }) as const),
      ...unchecked,
      ...withheld(wire, toolset.endpoint),
    ],
  };
}

async function prepareEndpoint(
  plan: InvokePlan,
  url: string,
  { client, log, terminal }: Stage,
): Promise<Prepared> {
  const wire = { client, log, credentials: readCredentials(plan.options, url, terminal.env) };
  return {
    wire,
    endpoint: url,
    base: null,
    operation: operationOf(plan),
    args: await readArguments(plan.words, null, terminal.stdin),
    notes: [
      {
        id: 'RT-OP',
        message: '--endpoint: no toolset was loaded, so neither the operation nor the arguments were checked',
      },
    ],
  };
}

interface Located {
  readonly tool: Tool;
  readonly discovered: Discovered;
  readonly wire: Wire;
}

/** The one tool that offers the operation: of the target named, else of the configured ones. */
async function locate(plan: InvokePlan, stage: Stage): Promise<Located> {
  const { cwd, home } = stage.terminal;
  const targets = plan.target ? [plan.target] : await configuredTargets([cwd, home]);
  const toolsets = await Promise.all(targets.map(target => load(plan, target, stage)));
  const [only] = toolsets;
  if (only && toolsets.length === 1)
    return { ...only, tool: toolOf(only.discovered.toolset, operationOf(plan)) };
  return pick(toolsets, operationOf(plan));
}

async function load(
  plan: InvokePlan,
  target: Target,
  { client, log, terminal, onStop }: Stage,
): Promise<Omit<Located, 'tool'>> {
  const reached: Reached =
    target.kind === 'endpoint' ? { url: target.url, stop: async () => {} } : await reach(target);
  onStop(reached.stop);
  const wire = { client, log, credentials: readCredentials(plan.options, reached.url, terminal.env) };
  return { wire, discovered: await discover(wire, reached.url) };
}

/** A name that two toolsets define is available from neither (RT-TOOLSET). */
function pick(toolsets: readonly Omit<Located, 'tool'>[], operation: string): Located {
  const offers = toolsets.flatMap(each =>
    each.discovered.toolset.tools.filter(({ name }) => name === operation).map(tool => ({ ...each, tool })),
  );
  const [offer] = offers;
  if (offer && offers.length === 1) return offer;
  const names = toolsets.flatMap(each => each.discovered.toolset.tools.map(({ name }) => name)).join(', ');
  const message = offer
    ? `"${operation}" is defined by ${offers.length} toolsets, so neither is used (RT-TOOLSET)`
    : `no configured toolset has an operation "${operation}"`;
  throw new ProtocolCliError('unknown-operation', message, {
    hint: offer ? 'Name the tool by its URL.' : `There are: ${names}.`,
  });
}

function operationOf({ operation }: InvokePlan): string {
  if (operation !== undefined) return operation;
  throw new ProtocolCliError('usage', 'no operation is named', {
    hint: 'protocol-cli toolset lists what the configured tools offer.',
  });
}

function withheld({ credentials }: Wire, endpoint: string): Warning[] {
  const names = Object.keys(credentials.headers);
  if (names.length === 0 || new URL(endpoint).origin === credentials.origin) return [];
  return [
    {
      message: `the endpoint ${endpoint} is on another origin than ${credentials.origin}: ${names.join(', ')} withheld from it`,
    },
  ];
}
