import type { Scenario } from './scenario.js';
import { callScenarios } from './scenarios/calls.js';
import { questionScenarios } from './scenarios/questions.js';
import { resultScenarios } from './scenarios/results.js';

/** All scenarios; the first runs alone, so it is an ordinary call. */
export const SCENARIOS: readonly Scenario[] = [...resultScenarios, ...callScenarios, ...questionScenarios];
