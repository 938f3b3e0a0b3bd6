import { invocationSchema } from '../protocol/invocation.js';
import { groupBy } from '../util/collections.js';
import { isRecord } from '../util/values.js';
import type { CallEvidence } from './call.js';

/** The members that the protocol defines; of these, an invocation may leave out the optional ones. */
const DEFINED: ReadonlySet<string> = new Set(Object.keys(invocationSchema.shape));
const REQUIRED: ReadonlySet<string> = new Set(
  Object.entries(invocationSchema.shape).flatMap(([name, schema]) =>
    schema.safeParse(undefined).success ? [] : [name],
  ),
);

/** Whether the protocol defines a member, also one that is null. */
export function isDefined(member: string): boolean {
  return DEFINED.has(member.replace(IS_NULL, ''));
}

const IS_NULL = ': null';

/** The members of an invocation beside the required ones; `user_id: null` is another one than `user_id`. */
export function optionalMembers({ attempts: [first] }: CallEvidence): readonly string[] {
  if (!isRecord(first?.sentJson)) return [];
  return Object.entries(first.sentJson).flatMap(([name, value]) => {
    if (REQUIRED.has(name)) return [];
    return value === null && DEFINED.has(name) ? [name + IS_NULL] : [name];
  });
}

/**
 * Finds the members that may have caused the end of these calls: those that no good call has. A good call with the same operation and
 * arguments, and with no other members, has to show that the rest of the call is fine, and that nothing is missing.
 */
export function suspectMembers(
  bad: readonly CallEvidence[],
  good: readonly CallEvidence[],
): ReadonlySet<string> {
  if (bad.length === 0) return new Set();
  const harmless = new Set(good.flatMap(optionalMembers));
  const goodByContent = groupBy(good, ({ content }) => [content]);
  const comparable = bad.filter(call => {
    const members = new Set(optionalMembers(call));
    const isSmaller = (other: CallEvidence) => optionalMembers(other).every(member => members.has(member));
    return goodByContent.get(call.content)?.some(isSmaller);
  });
  return new Set(comparable.flatMap(optionalMembers).filter(member => !harmless.has(member)));
}

/** Marks the calls that were refused because of optional (TOOL-ACK) or unknown members (TOOL-EXTRA). */
export function markRefusedMembers(calls: readonly CallEvidence[]): void {
  const isAccepted = ({ attempts }: CallEvidence) => attempts.some(({ status }) => status === 200);
  const isAnswered = ({ attempts }: CallEvidence) => attempts.some(({ status }) => status !== null);
  const refused = calls.filter(call => isAnswered(call) && !isAccepted(call));
  const suspects = suspectMembers(
    refused,
    calls.filter(call => call.invocation && isAccepted(call)),
  );
  for (const call of refused)
    call.refusedMembers = optionalMembers(call).flatMap(member => nameOf(member, suspects) ?? []);
}

/** A member that is also refused when it is not null has its plain name. */
function nameOf(member: string, suspects: ReadonlySet<string>): string | null {
  const plain = member.replace(IS_NULL, '');
  if (suspects.has(plain)) return plain;
  return suspects.has(member) ? member : null;
}
