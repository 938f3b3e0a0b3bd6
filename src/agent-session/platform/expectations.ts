import { wantedText } from '../../fixtures/pattern.js';
import type { ScriptCall, SessionScript } from '../../fixtures/session-script-types.js';
import { jsonPath } from '../../util/values.js';
import type { SessionProblem } from '../../verification/report.js';
import type { AnsweredCall, PendingCall } from './pending-call.js';

/** A difference between an answer and what the script expects. */
interface Unexpected {
  readonly path: string;
  readonly reason: string;
}

/** What has happened in a session so far. */
interface PlayedSession {
  readonly id: string;
  /** Number of rounds that have begun. */
  readonly roundsBegun: number;
  readonly settled: readonly AnsweredCall[];
  readonly unanswered: readonly PendingCall[];
}

/** What a script expects of a session: its rounds, and the answers to its calls. */
export class Expectations {
  readonly #roundCount: number;
  readonly #byKey: ReadonlyMap<string, ScriptCall['expected']>;

  constructor(script: SessionScript) {
    const rounds = [script, ...script.onMessage].flatMap(turn => turn.rounds);
    this.#roundCount = rounds.length;
    this.#byKey = new Map(rounds.flat().map(({ key, expected }) => [key, expected]));
  }

  /** The differences between an answer and its expectation; none without one. */
  unexpectedIn({ call, answer }: AnsweredCall): readonly Unexpected[] {
    const differences = this.#byKey.get(call.key)?.(answer) ?? [];
    return differences.map(difference => ({
      path: jsonPath(difference.path),
      reason: wantedText(difference),
    }));
  }

  /** The differences between a session and the script. */
  problemsOf({ id: session, roundsBegun, settled, unanswered }: PlayedSession): SessionProblem[] {
    const about = ({ key: call, tool_name }: PendingCall) => ({ session, call, tool_name });
    const of = this.#roundCount;
    const rounds = of - roundsBegun;
    return [
      ...settled.flatMap(each =>
        this.unexpectedIn(each).map(difference => ({
          kind: 'unexpected' as const,
          ...about(each.call),
          ...difference,
        })),
      ),
      ...unanswered.map(call => ({ kind: 'unanswered' as const, ...about(call) })),
      ...(rounds > 0 ? [{ kind: 'unreached' as const, session, rounds, of }] : []),
    ];
  }
}
