import type { Warning } from '../../../../protocol/requirements.js';
import type { Answerer } from '../../../../session/answering/answerer.js';

/** An answerer that was started for one session, and is stopped after it. */
export interface ToolAnswerer extends Answerer {
  /** What is worth a warning before the first call. */
  readonly notes: readonly Warning[];
  /** Resolves once nothing of ours goes on. */
  close(): Promise<void>;
}
