import { toolsetsAt } from './discoveries.js';
import type { CallEvidence, Evidence } from './evidence.js';

/** Why a tool must not execute a call. */
export type Unacceptable = 'malformed' | 'unknown-operation' | 'bad-arguments';

/** Null where nothing is known against it. */
export function unacceptable(
  { reading, tool, argumentFaults, attempts }: CallEvidence,
  { discoveries }: Pick<Evidence, 'discoveries'>,
): Unacceptable | null {
  if (!reading.ok) return 'malformed';
  if (tool) return (argumentFaults ?? []).length > 0 ? 'bad-arguments' : null;
  const isToolsetKnown = toolsetsAt(discoveries, attempts[0]?.request.at ?? 0).length > 0;
  return isToolsetKnown ? 'unknown-operation' : null;
}
