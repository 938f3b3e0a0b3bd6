import type { Scenario } from './scenario.js';
import { acknowledgementScenarios } from './scenarios/acknowledgements.js';
import { callScenarios } from './scenarios/calls.js';
import { displayScenarios } from './scenarios/display.js';
import { invalidScenarios } from './scenarios/invalid.js';
import { noticeScenarios } from './scenarios/notices.js';
import { questionScenarios } from './scenarios/questions.js';
import { resultScenarios } from './scenarios/results.js';
import { serverScenarios } from './scenarios/servers.js';
import { subscriptionScenarios } from './scenarios/subscriptions.js';
import { viewScenarios } from './scenarios/views.js';

/** All scenarios; the first runs alone, so it is an ordinary call. */
export const SCENARIOS: readonly Scenario[] = [
  ...resultScenarios,
  ...acknowledgementScenarios,
  ...callScenarios,
  ...serverScenarios,
  ...invalidScenarios,
  ...displayScenarios,
  ...noticeScenarios,
  ...questionScenarios,
  ...subscriptionScenarios,
  ...viewScenarios,
];
