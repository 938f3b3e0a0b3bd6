import { stringsIn, valueAt } from '../../util/values.js';
import type { OfferedTool } from './providers/api.js';

/** A tool of agents that do not end at a text of the model, such as those of smolagents. */
export const FINAL_TOOL = 'final_answer';

/** Names of a tool of an agent with which the model cancels a subscription. */
export const CANCELING = ['cancel_subscription', 'cancel_tool_call', 'unsubscribe'] as const;

/** Names of its argument for the id, if it has several. */
const ID_PARAMETERS = ['tool_call_id', 'subscription_id', 'call_id', 'id'];

export interface CancelingTool {
  readonly name: string;
  /** The argument for the id of the call that opened the subscription. */
  readonly parameter: string;
}

/** The offered tool with which the model cancels a subscription, and the argument for the id of the call that opened it. */
export function cancelingToolIn(tools: readonly OfferedTool[]): CancelingTool | null {
  const names = tools.map(({ name }) => name);
  const name = CANCELING.map(each => toolNameFor(each, names)).find(each => each !== undefined);
  const schema = tools.find(each => each.name === name)?.parameters;
  const required = stringsIn(valueAt(schema, 'required') ?? []);
  const all = required.length > 0 ? required : Object.keys(valueAt(schema, 'properties') ?? {});
  const parameter = all.length === 1 ? all[0] : ID_PARAMETERS.find(each => all.includes(each));
  return name !== undefined && parameter !== undefined ? { name, parameter } : null;
}

/** Characters that agents replace, since tool names may not contain them. */
const UNUSUAL = /[^\w-]/g;

/** Separators between a prefix of the agent and the name of the operation, the most explicit first. */
const SEPARATORS = ['__', '.', '/', ':', '-', '_'];

/** The offered tool for an operation: of the same name, or of one that ends with it. */
export function toolNameFor(operation: string, offered: readonly string[]): string | undefined {
  const plain = operation.replace(UNUSUAL, '_');
  const exact = [operation, plain].find(name => offered.includes(name));
  if (exact !== undefined) return exact;
  return SEPARATORS.map(separator =>
    offered.find(name => name.endsWith(separator + operation) || name.endsWith(separator + plain)),
  ).find(name => name !== undefined);
}
