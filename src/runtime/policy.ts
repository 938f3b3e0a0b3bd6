import type * as z from 'zod/mini';
import type { Exchange } from '../events/exchange.js';
import type { History } from '../events/history.js';
import type { Tool } from '../protocol/toolset.js';
import type { Clock } from '../system/drafts.js';
import {
  type Answering,
  answerQuestions,
  cancelToolCall,
  type Delivery,
  type NoticeAnswer,
  type Wire,
} from './notices.js';
import type { policySchema, ruleSchema } from './policy-schema.js';
import type { Call, Runtime } from './runtime.js';

export type Policy = z.infer<typeof policySchema>;
type Rule = z.infer<typeof ruleSchema>;

/** What a policy is asked about: an operation, and what is known of it. */
export type Governed = Pick<Tool, 'name' | 'annotations'>;

/** `isNamed`: a rule allows just this tool, by its whole name; neither a wildcard nor an annotation nor the default is such a word. */
type Ruling =
  | { readonly allowed: true; readonly isNamed: boolean }
  | { readonly allowed: false; readonly reason: string };

/** What the policy says of a tool: without one everything is allowed, nothing by its name. Pure; before anything is sent. */
export function rulingOn(policy: Policy | null, tool: Governed): Ruling {
  const { deny = [], allow, default: preset } = policy ?? {};
  const denied = deny.find(rule => fits(rule, tool));
  if (denied !== undefined) return { allowed: false, reason: reasonOf(denied) };
  const allowing = allow?.filter(rule => fits(rule, tool)) ?? [];
  if (allowing.length > 0)
    return { allowed: true, isNamed: allowing.some(rule => nameIn(rule) === tool.name) };
  if ((preset ?? (allow ? 'deny' : 'allow')) === 'allow') return { allowed: true, isNamed: false };
  return { allowed: false, reason: 'the policy allows other tools only' };
}

/** Whether it asks for what only a toolset tells. */
export function asksForAnnotations({ deny = [], allow = [] }: Policy): boolean {
  return [...deny, ...allow].some(rule => typeof rule !== 'string' && rule.annotation !== undefined);
}

function nameIn(rule: Rule): string | undefined {
  return typeof rule === 'string' ? rule : rule.name;
}

function fits(rule: Rule, { name, annotations = {} }: Governed): boolean {
  const wanted = typeof rule === 'string' ? { name: rule } : rule;
  if (wanted.name !== undefined && !matchesWildcard(wanted.name, name)) return false;
  return wanted.annotation === undefined || isSet(annotations, wanted.annotation);
}

/** An annotation holds where it is true, or says anything. */
function isSet(annotations: Readonly<Record<string, unknown>>, name: string): boolean {
  const value = Object.hasOwn(annotations, name) ? annotations[name] : undefined;
  return value !== undefined && value !== false && value !== null && value !== '';
}

/** `*` stands for any characters, and there is nothing else to know. Takes time in proportion to both, however many stars. */
function matchesWildcard(pattern: string, name: string): boolean {
  const [first = '', ...parts] = pattern.split('*');
  const last = parts.pop();
  if (last === undefined) return pattern === name;
  if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length)
    return false;
  let at = first.length;
  for (const part of parts) {
    const found = name.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at <= name.length - last.length;
}

function reasonOf(rule: Rule): string {
  if (typeof rule === 'string') return `the policy denies ${rule}`;
  const { name, annotation, reason } = rule;
  if (reason !== undefined) return reason;
  if (annotation === undefined) return `the policy denies ${name}`;
  return `the policy denies ${name ?? 'tools'} annotated ${annotation}`;
}

/** What a call is made with. */
interface Line {
  readonly runtime: Runtime;
  readonly wire: Wire;
  /** Subscribed to the wire's log. */
  readonly history: History;
  readonly clock: Clock;
}

/**
 * Sends an addressed call, has its questions answered, and waits until it is settled or left.
 * @throws ProtocolCliError as {@link Runtime.invoke} does.
 */
export async function converse(
  { runtime, wire, history, clock }: Line,
  call: Call,
  answering: Answering,
): Promise<Exchange> {
  const stopAnswering = answerQuestions(wire, history, call.invocation, answering, clock);
  return runtime.invoke(wire, call).finally(stopAnswering);
}

/** The call, or its subscription, is over here at once, and the tool is told that nobody waits any more. Never throws. */
export function giveUp(
  wire: Wire,
  base: string,
  { key, invocation: { id, group_id: thread } }: Exchange,
  by: 'person' | 'policy',
  delivery?: Omit<Delivery, 'calls'>,
): Promise<NoticeAnswer> {
  wire.log.emit({ kind: 'decided', what: 'cancel', by, calls: [key] });
  return cancelToolCall(wire, base, { key, thread, id }, delivery);
}
