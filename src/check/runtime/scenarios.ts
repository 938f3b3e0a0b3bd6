import type { Scenario } from './scenario.js';
import { displayScenarios } from './scenarios/display.js';
import { invalidScenarios } from './scenarios/invalid.js';
import { resultScenarios } from './scenarios/results.js';

/** All scenarios; the first runs alone, so it is an ordinary call. */
export const SCENARIOS: readonly Scenario[] = [...resultScenarios, ...invalidScenarios, ...displayScenarios];
