import type { Clock } from '../../../../system/clock.js';
import type { HttpClient } from '../../../../transport/client.js';
import type { Interruption, OnStop } from '../../../interruption.js';
import type { Terminal } from '../../../terminal.js';
import type { Governing } from '../consent.js';
import type { Observation } from '../observe.js';
import type { AnswerPlan } from '../plan.js';

/** What an answerer works in: who looks on, who may interrupt it, what it may call. */
export interface Setting {
  readonly plan: AnswerPlan;
  readonly terminal: Terminal;
  readonly clock: Clock;
  readonly client: HttpClient;
  readonly observation: Observation;
  readonly interrupted: Interruption;
  readonly governing: Governing;
  readonly onStop: OnStop;
}
