import type { Caller } from '../../fixtures/check-files.js';
import type { RequirementId } from '../../protocol/requirements.js';

/** A valid call, and how the sent call differs from it. */
export interface ProbeCall {
  readonly operation: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Fields that replace or extend the fields of a valid invocation; undefined removes a field. */
  readonly fields?: Readonly<Record<string, unknown>>;
  /** On whose behalf it is sent. Its headers replace or extend those of the check. */
  readonly caller?: Caller | undefined;
  readonly addressed?: (url: string) => string;
  /** Returns the body to send instead of the invocation. */
  readonly body?: (invocation: Readonly<Record<string, unknown>>) => string;
  /** Whether to follow its subscription to the end; default: cancel it after the first event. */
  readonly isFollowed?: boolean;
  /** The responses to its callbacks, in order; the last one is repeated. */
  readonly answers?: readonly PlannedResponse[];
}

/** A status, a 200 with a body, a late 200, no response until the connection breaks, or a broken connection at once. */
export type PlannedResponse = number | { readonly body: string } | 'slow' | 'hang' | 'reset';

/** A plan that the log records before its calls. */
export interface ProbePlan {
  readonly id: string;
  /** Requirements that its calls can show. */
  readonly checks: readonly RequirementId[];
  readonly case?: number;
  /** Whether the calls were made before, and are repeated alone. */
  readonly again?: true;
  /** Whether the calls are repeated on a new server, after the first one exited. */
  readonly newServer?: true;
}
