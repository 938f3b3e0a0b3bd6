import type { CallbackEvidence } from './evidence.js';

export function isResult({ reading }: CallbackEvidence): boolean {
  return reading?.ok === true && reading.message.type === 'tool_result';
}
