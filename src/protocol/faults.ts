import type * as z from 'zod';
import { jsonPath } from '../text/json-path.js';

/** Every issue of a failed parse as `$.path: what is wrong`. */
export function faultsOf(error: z.ZodError): string[] {
  return error.issues.map(issue => `${jsonPath(issue.path)}: ${sentence(issue)}`);
}

function sentence(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_type' && issue.message.endsWith('received undefined')) return 'is required';
  return issue.message.replace(/^Invalid input: /, '');
}
