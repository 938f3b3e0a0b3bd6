import type { Rule } from '../rule.js';

/** What a runtime must hold. A new rule is one file and one line here. */
export const RUNTIME_RULES: readonly Rule[] = [];
