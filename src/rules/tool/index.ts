import type { Rule } from '../rule.js';
import { acknowledgesAtOnce } from './ack.js';
import { retries } from './retry.js';

/** What a tool must hold. A new rule is one file and one line here. */
export const TOOL_RULES: readonly Rule[] = [acknowledgesAtOnce, retries];
