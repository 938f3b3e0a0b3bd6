import type { Exchange } from '../../events/exchange.js';
import { REDACTED } from '../../util/redact.js';
import { openForm, type ServerTool, toolsNamed } from './forms.js';
import type { Model, Source } from './model.js';
import { isRedacted, isSending, sendOrAsk } from './run.js';
import { unavailableText } from './servers.js';
import { complain, selectedCall, type Workbench } from './workbench.js';

/** Sends the selected call again: to the same server, with the same arguments, validated or not, in a new thread. */
export function runAgain(workbench: Workbench): void {
  const repeated = callToRepeat(workbench);
  if (repeated.kind === 'none') {
    complain(workbench, repeated.problem);
    return;
  }
  const { exchange, target, mismatch, name, validates } = repeated;
  const { operation, arguments: args } = exchange.invocation;
  const draft = { server: target.server.id, operation, arguments: args };
  if (isSending(workbench, name)) {
    complain(workbench, 'Not run: it is being sent already.');
  } else if (mismatch !== null) {
    complain(workbench, `Not run: ${mismatch} Press e to open its form at ${target.server.about}.`);
  } else if (repeated.isRedacted) {
    complain(workbench, `Not run: ${REDACTED} replaces a secret. Press e to edit the arguments.`);
  } else {
    sendOrAsk(workbench, { draft, validates, from: name, isRerun: true });
  }
}

/** Opens the form of the selected call's operation with its arguments, at another server if necessary. */
export function editAgain(workbench: Workbench): void {
  const repeated = callToRepeat(workbench);
  if (repeated.kind === 'none') {
    complain(workbench, repeated.problem);
    return;
  }
  const { exchange, target, mismatch, name } = repeated;
  openForm(workbench, target, { given: exchange.invocation.arguments, about: name });
  const notes = [
    ...(mismatch === null ? [] : [`This is the form of ${target.server.about}: ${mismatch}`]),
    ...(repeated.isRedacted ? [`${REDACTED} replaces a secret: type it in.`] : []),
  ];
  if (notes.length > 0) complain(workbench, notes.join(' '));
}

interface CallToRepeat {
  readonly kind: 'call';
  readonly exchange: Exchange;
  readonly target: ServerTool;
  /** Why the target may be another server than that of the call; null if it is the same one. */
  readonly mismatch: string | null;
  readonly name: string;
  readonly validates: boolean;
  readonly isRedacted: boolean;
}

/** The selected call and the server to send it to, or why there is none. */
function callToRepeat(
  workbench: Workbench,
): CallToRepeat | { readonly kind: 'none'; readonly problem: string } {
  const { model } = workbench;
  const source = workbench.source();
  const exchange = selectedCall(workbench);
  if (!exchange) return { kind: 'none', problem: 'No call to run again.' };
  const { operation, arguments: args } = exchange.invocation;
  const unavailable = unavailableText(workbench);
  const { target, owners } = targetOf(exchange, source, model);
  if (!target) {
    const problem = unavailable ?? `No open tool server offers ${operation}. Press u to open one.`;
    return { kind: 'none', problem };
  }
  return {
    kind: 'call',
    exchange,
    target,
    mismatch: owners === 0 && unavailable ? `${unavailable}.` : mismatchOf(owners),
    name: `${source.id} ${exchange.key}`,
    validates: !(source.isLive && model.isUnvalidated(exchange.key)),
    isRedacted: !source.isLive && isRedacted(args),
  };
}

interface Target {
  /** Undefined if no open server has the operation. */
  readonly target: ServerTool | undefined;
  /** How many servers may be that of the call. */
  readonly owners: number;
}

/** The server of a call, or else another one with its operation. Of several that may be its own, one that needs consent. */
function targetOf({ key, endpoint, invocation }: Exchange, source: Source, model: Model): Target {
  const matches = toolsNamed(model.servers, invocation.operation);
  const id = source.isLive ? model.serverOf(key) : null;
  const owners = matches.filter(({ server: { id: own, state } }) => {
    if (source.isLive) return own === id;
    return state.kind === 'ready' && state.toolset.endpoint === endpoint;
  });
  const destructive = owners.find(({ tool }) => tool.annotations?.destructive === true);
  return { target: destructive ?? owners[0] ?? matches[0], owners: owners.length };
}

function mismatchOf(owners: number): string | null {
  if (owners === 1) return null;
  return owners === 0
    ? 'its own tool server does not offer it now.'
    : `${owners} open tool servers have its endpoint.`;
}
