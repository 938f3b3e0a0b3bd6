import type { CheckStatus } from '../../../../src/check/judge.js';
import type { ProbeOptions } from '../../../../src/check/probes/probes.js';
import type { RequirementId } from '../../../../src/protocol/requirements.js';

/** A tool that breaks one rule, and how that is reported. */
export interface BrokenTool {
  /** What it does that it must not. */
  readonly does: string;
  readonly start?: () => Promise<AsyncDisposable & { readonly url: string }>;
  /** If only one operation breaks the rule: its fixture. All of these operations are checked together, and judged one by one. */
  readonly fixture?: object;
  readonly says: RegExp;
  /** What the rule's row comes to: fail for a MUST, a warning for a SHOULD, by default. */
  readonly status?: CheckStatus;
  readonly options?: Partial<ProbeOptions>;
}

export type BrokenTools = Readonly<Partial<Record<RequirementId, readonly BrokenTool[]>>>;
