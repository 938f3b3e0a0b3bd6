import type { Log } from '../../events/log.js';
import type { HttpClient } from '../../http/client.js';
import type { Warning } from '../../protocol/requirements.js';
import type { Tool } from '../../protocol/toolset.js';
import {
  checkArguments,
  DISCOVERY_HINTS,
  type Discovered,
  discover,
  toolOf,
} from '../../runtime/discover.js';
import type { Wire } from '../../runtime/notices.js';
import type { Governed } from '../../runtime/policy.js';
import { ProtocolCliError } from '../../util/errors.js';
import { cut, excerpt, firstFew } from '../../util/text.js';
import { visibleLine } from '../../util/visible.js';
import { confirmCommands, readRapConfig, requireServers } from '../rap-config.js';
import { reach } from '../reach.js';
import {
  type ConfiguredTarget,
  type ReachOptions,
  readCredentials,
  type Target,
  withheld,
} from '../target.js';
import { ask, isSomebodyThere } from '../terminal.js';
import { type Arguments, askForArguments, readArguments } from './arguments.js';
import type { InvokePlan } from './plan.js';
import type { Stage } from './questions.js';

/** Everything an invocation needs besides its callback URL. */
export interface Prepared {
  readonly wire: Wire;
  readonly endpoint: string;
  /** Where notices go; null without discovery. */
  readonly base: string | null;
  readonly tool: Governed;
  readonly args: Arguments;
  readonly notes: readonly Warning[];
}

interface Reach {
  readonly log: Log;
  readonly client: HttpClient;
  /** Where a person is asked. */
  readonly stage: Stage;
  readonly starting: ReachOptions;
}

interface Loaded {
  readonly discovered: Discovered;
  readonly wire: Wire;
}

interface Located extends Loaded {
  readonly tool: Tool;
  readonly notes: readonly Warning[];
}

const HINTS = {
  ...DISCOVERY_HINTS,
  missing: 'Give the base URL of the tool server. If this is the invocation endpoint itself, add --endpoint.',
};

const MOST_NAMES = 60;

const MOST_DESCRIPTION = 60;

/**
 * Reaches the tool, loads its toolset, finds the operation, and checks the arguments.
 * @throws ProtocolCliError saying what is wrong.
 */
export async function prepare(plan: InvokePlan, reach: Reach): Promise<Prepared> {
  const { target, operation, options, words } = plan;
  const { stdin, env } = reach.stage.terminal;
  if (target?.kind === 'endpoint') {
    const { client, log } = reach;
    const message =
      '--endpoint: no toolset was loaded, so neither the operation nor the arguments were checked';
    return {
      wire: { client, log, credentials: readCredentials(options, target.url, env) },
      endpoint: target.url,
      base: null,
      tool: { name: operation ?? '' },
      args: await readArguments(words, null, stdin),
      notes: [{ id: 'RT-OP', message }],
    };
  }
  const { tool, discovered, wire, notes } = await locate(plan, target, reach);
  const isAsked = operation === undefined && words.words.length === 0 && words.whole === undefined;
  const args = isAsked
    ? await askForArguments(tool, reach.stage)
    : await readArguments(words, tool.inputSchema, stdin);
  const { base, toolset } = discovered;
  const warnings = options.validate ? await checkArguments(tool, args) : [];
  return {
    wire,
    base,
    args,
    endpoint: toolset.endpoint,
    tool,
    notes: [
      ...notes,
      ...discovered.notes.map(message => ({ id: 'TOOL-DISCOVER', message }) as const),
      ...warnings,
      ...withheld(wire.credentials, toolset.endpoint),
    ],
  };
}

/** Finds the tool on the target, or on one of the configured servers. */
async function locate(
  plan: InvokePlan,
  target: Exclude<Target, { kind: 'endpoint' }> | null,
  reach: Reach,
): Promise<Located> {
  if (target) {
    const loaded = await load(plan, target, reach);
    const { toolset } = loaded.discovered;
    return {
      ...loaded,
      tool: toolOf(toolset, await operationAmong(toolset.tools, plan, reach.stage)),
      notes: [],
    };
  }
  const { terminal, aside, signal } = reach.stage;
  const config = await readRapConfig(terminal);
  requireServers(config);
  const { targets, warnings } = config;
  if (!plan.options.yes) await aside(() => confirmCommands(targets, terminal, signal));
  const servers = await Promise.allSettled(targets.map(each => load(plan, each, reach)));
  const loaded = servers.flatMap(each => (each.status === 'fulfilled' ? [each.value] : []));
  const failures = servers.flatMap(each => (each.status === 'rejected' ? [each.reason as unknown] : []));
  if (loaded.length === 0) throw failures[0];
  const notes = [...warnings, ...failures.map(unusable)];
  const offers = loaded.flatMap(each =>
    each.discovered.toolset.tools.map(tool => ({ ...each, tool, notes })),
  );
  const operation = await operationAmong(
    offers.map(({ tool }) => tool),
    plan,
    reach.stage,
  );
  const found = offers.filter(({ tool }) => tool.name === operation);
  if (found.length === 1 && found[0]) return found[0];
  // A name that two toolsets define is available from neither (RT-TOOLSET).
  const names = offers.map(({ tool }) => tool.name).join(', ');
  const faults = notes.map(({ message }) => message);
  throw found.length > 0
    ? new ProtocolCliError(
        'unknown-operation',
        `"${operation}" is defined by ${found.length} toolsets, so neither is used (RT-TOOLSET)`,
        { faults, hint: 'Name the tool by its URL.' },
      )
    : new ProtocolCliError('unknown-operation', `no configured toolset has an operation "${operation}"`, {
        faults,
        hint: `There are: ${names}.`,
      });
}

async function load(plan: InvokePlan, target: ConfiguredTarget, to: Reach): Promise<Loaded> {
  const { client, log, stage, starting } = to;
  const url = await reach(target, starting);
  const wire = { client, log, credentials: readCredentials(plan.options, url, stage.terminal.env) };
  return { wire, discovered: await discover(wire, url, HINTS) };
}

function unusable(failure: unknown): Warning {
  const reason = failure instanceof Error ? failure.message : String(failure);
  return { message: `a configured tool server could not be used: ${reason}` };
}

/** The given operation, or the one that a person picks. @throws ProtocolCliError `usage`, with the available names. */
async function operationAmong(tools: readonly Tool[], plan: InvokePlan, stage: Stage): Promise<string> {
  const { terminal, signal, aside } = stage;
  if (plan.operation !== undefined) return plan.operation;
  const picked = isSomebodyThere(terminal) ? await aside(() => pickOperation(tools, stage)) : null;
  if (picked !== null) return picked;
  const names = [...new Set(tools.map(({ name }) => name))];
  throw new ProtocolCliError(
    signal.aborted ? 'interrupted' : 'usage',
    `no operation given. Available: ${firstFew(names, MOST_NAMES)}`,
    { hint: 'Put one of them after the URL: protocol-cli invoke <url> <operation> key=value' },
  );
}

async function pickOperation(tools: readonly Tool[], { terminal, signal }: Stage): Promise<string | null> {
  const lines = tools.map(
    ({ name, description }, index) => `${index + 1}  ${name}  ${cut(description, MOST_DESCRIPTION)}`,
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
