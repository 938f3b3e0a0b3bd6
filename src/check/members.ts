import { invocationSchema } from '../protocol/invocation.js';
import { groupBy } from '../util/collections.js';
import { isRecord } from '../util/values.js';
import { contentOf, isAcknowledged, type RecordedCall } from './recorded-call.js';

/** A member of an invocation beside the required ones. `user_id: null` is another one than `user_id`. */
export interface OptionalMember {
  readonly name: string;
  /** Only of members that the protocol defines: the value of an unknown one makes no difference. */
  readonly isNull: boolean;
}

/** The members that the protocol defines; of these, an invocation may leave out the optional ones. */
const DEFINED: ReadonlySet<string> = new Set(Object.keys(invocationSchema.shape));
const REQUIRED: ReadonlySet<string> = new Set(
  Object.entries(invocationSchema.shape).flatMap(([name, schema]) =>
    schema.safeParse(undefined).success ? [] : [name],
  ),
);

/** Whether the protocol defines a member of this name. */
export function isDefined({ name }: Pick<OptionalMember, 'name'>): boolean {
  return DEFINED.has(name);
}

/** How a member reads in a message: `user_id`, `user_id: null`. */
export function memberText({ name, isNull }: OptionalMember): string {
  return isNull ? `${name}: null` : name;
}

/** Equal for equal members. */
function keyOf({ name, isNull }: OptionalMember): string {
  return JSON.stringify([name, isNull]);
}

export function optionalMembers({ attempts: [first] }: RecordedCall): readonly OptionalMember[] {
  if (!isRecord(first?.sentJson)) return [];
  return Object.entries(first.sentJson).flatMap(([name, value]) =>
    REQUIRED.has(name) ? [] : [{ name, isNull: value === null && DEFINED.has(name) }],
  );
}

/**
 * Returns the members because of which the tool may have refused calls: each is in a refused call, and in no accepted one. Only a refused
 * call counts for which there is an accepted call with the same operation and arguments, and with no further members: that one shows that
 * the rest of the call is fine, and that nothing is missing.
 */
export function membersOnlyIn(
  refusedCalls: readonly RecordedCall[],
  acceptedCalls: readonly RecordedCall[],
): readonly OptionalMember[] {
  if (refusedCalls.length === 0) return [];
  const harmless = new Set(acceptedCalls.flatMap(optionalMembers).map(keyOf));
  const acceptedByContent = groupBy(acceptedCalls, call => [contentOf(call)]);
  const comparable = refusedCalls.filter(call => {
    const keys = new Set(optionalMembers(call).map(keyOf));
    const hasNoOthers = (accepted: RecordedCall) =>
      optionalMembers(accepted).every(member => keys.has(keyOf(member)));
    return acceptedByContent.get(contentOf(call))?.some(hasNoOthers);
  });
  return comparable.flatMap(optionalMembers).filter(member => !harmless.has(keyOf(member)));
}

/** The optional (TOOL-ACK) or unknown members (TOOL-EXTRA) because of which calls were refused. */
export function refusedMembersOf(
  calls: readonly RecordedCall[],
): ReadonlyMap<RecordedCall, readonly OptionalMember[]> {
  const isAnswered = ({ attempts }: RecordedCall) => attempts.some(({ status }) => status !== null);
  const refused = calls.filter(call => isAnswered(call) && !isAcknowledged(call));
  const accepted = calls.filter(call => call.invocation && isAcknowledged(call));
  const suspects = new Set(membersOnlyIn(refused, accepted).map(keyOf));
  return new Map(
    refused.map(call => [call, optionalMembers(call).flatMap(member => refusedAs(member, suspects) ?? [])]),
  );
}

/** A member that is also refused when it is not null counts as such; null if it is not refused. */
function refusedAs(member: OptionalMember, suspects: ReadonlySet<string>): OptionalMember | null {
  const withValue = { ...member, isNull: false };
  if (suspects.has(keyOf(withValue))) return withValue;
  return suspects.has(keyOf(member)) ? member : null;
}
