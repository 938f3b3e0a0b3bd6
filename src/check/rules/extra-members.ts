import { groupBy } from '../../util/collections.js';
import { formatDuration } from '../../util/text.js';
import { visibleLine } from '../../util/visible.js';
import type { CallEvidence } from '../call.js';
import type { Evidence } from '../evidence.js';
import { isDefined, membersOnlyIn, memberText, optionalMembers } from '../members.js';
import {
  defineRules,
  inconclusive,
  met,
  metWithNote,
  type Observed,
  unrecorded,
  violated,
  violatedIfComplete,
} from '../rule.js';
import { statusMismatch, timeoutAdvice } from '../rule-details.js';
import { ranTogether } from '../times.js';

/** Keys that frameworks refuse, since they can pollute a prototype. */
const PROTOTYPE_KEYS: readonly string[] = ['__proto__', 'constructor'];

/** How a tool takes members of an invocation that it does not know. */
export const extraMemberRules = defineRules({
  'TOOL-EXTRA': {
    level: 'SHOULD',
    statement: 'ignores unknown extra fields in the invocation',
    advice:
      'Ignore unknown members: no strict schema (Go: DisallowUnknownFields, Jackson: FAIL_ON_UNKNOWN_PROPERTIES).',
    absent:
      'no well-formed invocation had fields beyond those of the protocol, and another to compare it with',
    observe: evidence => {
      const { calls } = evidence;
      const valid = calls.filter(({ flaw }) => flaw === null);
      const extended = valid.filter(hasUnknownMembers);
      const plain = groupBy(
        valid.filter(call => !hasUnknownMembers(call)),
        ({ invocation }) => [invocation?.operation],
      );
      const failed = extended.filter(({ ending }) => ending.kind === 'result' && ending.isError);
      const succeeded = valid.filter(({ ending }) => ending.kind === 'result' && !ending.isError);
      const suspects = new Set(
        membersOnlyIn(failed, succeeded)
          .filter(member => !isDefined(member))
          .map(({ name }) => name),
      );
      return [
        valid.map(judgeRefusedMembers),
        extended.map(call =>
          judgeUnknownMembers(call, plain.get(call.invocation?.operation) ?? [], suspects, evidence),
        ),
      ];
    },
  },
});

function hasUnknownMembers(call: CallEvidence): boolean {
  return optionalMembers(call).some(member => !isDefined(member));
}

function judgeRefusedMembers({ refusedMembers, attempts }: CallEvidence): Observed {
  const refusal = attempts.findLast(({ status }) => status !== null);
  if (!refusal) return null;
  const { status } = refusal;
  return refusedMembers.flatMap(member => {
    if (isDefined(member)) return []; // judged by TOOL-ACK
    const details = { name: visibleLine(memberText(member)), ...statusMismatch(refusal) };
    if (PROTOTYPE_KEYS.includes(member.name))
      return metWithNote(
        `answered ${status} to a member that can pollute a prototype, which is no fault`,
        attempts,
        details,
      );
    return violated(`answered ${status} to unknown members, and 200 without them`, attempts, details);
  });
}

/** Compares the call with calls of the same operation without unknown members: an operation may fail anyway. */
function judgeUnknownMembers(
  call: CallEvidence,
  plain: readonly CallEvidence[],
  suspects: ReadonlySet<string>,
  evidence: Evidence,
): Observed {
  const { attempts, callbacks, ending, refusedMembers } = call;
  const proof = [...attempts, ...callbacks.slice(0, 1)];
  const hasResult = plain.some(other => other.ending.kind === 'result');
  switch (ending.kind) {
    case 'asked':
      return met([...attempts, ending.callback]);
    case 'result': {
      if (!ending.isError) return met([...attempts, ending.callback]);
      const causes = optionalMembers(call).filter(({ name }) => suspects.has(name));
      if (causes.length > 0) return causes.map(({ name }) => judgeError(name, proof));
      return hasResult ? met(proof) : null;
    }
    case 'refused':
      if (refusedMembers.length > 0) return null; // judged above
      return inconclusive(
        `the call was answered ${ending.status}, which its unknown members do not explain`,
        attempts,
      );
    case 'silent': {
      const what = `nothing within ${formatDuration(ending.afterMs)}`;
      const isLost = plain.some(other => other.ending.kind === 'silent' && ranTogether(other, call));
      return hasResult && !isLost
        ? violatedIfComplete(`the call was dropped: ${what}`, attempts)
        : unrecorded(`${what}${timeoutAdvice(call, evidence)}`, attempts);
    }
    case 'called-off':
      return null;
    default:
      return unrecorded('the call had no outcome that can be judged', [...attempts, ...callbacks]);
  }
}

function judgeError(member: string, proof: CallEvidence['attempts']): Observed {
  const name = visibleLine(member);
  return PROTOTYPE_KEYS.includes(member)
    ? metWithNote('a call ended in an error because of a member that can pollute a prototype', proof, {
        name,
      })
    : violated('a call ended in an error, and succeeded without these members', proof, { name });
}
