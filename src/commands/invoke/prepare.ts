import type { Warning } from '../../protocol/requirements.js';
import { checkArguments } from '../../runtime/check-call.js';
import type { Wire } from '../../runtime/notices.js';
import type { Governed } from '../../runtime/policy.js';
import { readCredentials } from '../target.js';
import { type InvokePlan, locate, operationOf, readArguments, type Stage } from './plan.js';

/** That credentials are kept from an endpoint, since they were given for another origin (threats, row 12). */
export function withheld({ credentials }: Wire, endpoint: string): Warning[] {
  const names = Object.keys(credentials.headers);
  if (names.length === 0 || new URL(endpoint).origin === credentials.origin) return [];
  return [
    {
      message: `the endpoint ${endpoint} is on another origin than ${credentials.origin}: ${names.join(', ')} withheld from it`,
    },
  ];
}

/** Everything an invocation needs besides its callback URL. */
export interface Prepared {
  readonly wire: Wire;
  readonly endpoint: string;
  /** Where notices go; null where there was no discovery. */
  readonly base: string | null;
  /** The operation, and what is known of it. */
  readonly tool: Governed;
  readonly args: Record<string, unknown>;
  readonly notes: readonly Warning[];
}

/**
 * From a plan to a call that may be sent: the tool reached, its toolset loaded, the operation known, the arguments checked.
 * @throws ProtocolCliError saying what is wrong.
 */
export async function prepare(plan: InvokePlan, stage: Stage): Promise<Prepared> {
  const { target } = plan;
  if (target?.kind === 'endpoint') return prepareEndpoint(plan, target.url, stage);
  const found = await locate(plan, target, stage);
  const { tool, discovered, wire } = found;
  const args = await readArguments(plan.words, tool.inputSchema, stage.terminal.stdin);
  const unchecked = plan.options.validate ? await checkArguments(tool, args) : [];
  const { base, toolset, notes } = discovered;
  return {
    wire,
    base,
    args,
    endpoint: toolset.endpoint,
    tool,
    notes: [
      ...found.notes,
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
    tool: { name: operationOf(plan) },
    args: await readArguments(plan.words, null, terminal.stdin),
    notes: [
      {
        id: 'RT-OP',
        message: '--endpoint: no toolset was loaded, so neither the operation nor the arguments were checked',
      },
    ],
  };
}
