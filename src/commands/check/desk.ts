import type { ProbeOptions } from '../../probes/run-probes.js';
import type { Clock } from '../../system/clock.js';
import type { Interruption, OnStop } from '../interruption.js';
import type { Terminal } from '../terminal.js';
import type { CheckPlan } from './plan.js';

/** What a check was made with; a test gives other probes. */
export interface Making {
  readonly clock: Clock;
  readonly probes: (options: ProbeOptions) => Promise<void>;
}

/** What there is at hand while a tool is called. */
export interface Desk {
  readonly plan: CheckPlan;
  readonly terminal: Terminal;
  readonly making: Making;
  readonly interrupted: Interruption;
  readonly onStop: OnStop;
}
