import type { SessionFault } from '../../fixtures/session-script-types.js';

/** The faults that a script plans for the first requests of each kind. */
export class PlannedFaults {
  readonly #counts = new Map<string, number>();

  next(kind: string, faults: readonly SessionFault[] = []): SessionFault | undefined {
    const count = this.#counts.get(kind) ?? 0;
    if (count >= faults.length) return undefined;
    this.#counts.set(kind, count + 1);
    return faults[count];
  }
}
