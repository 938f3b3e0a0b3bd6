import type { Warning } from '../../protocol/requirements.js';
import type { Line } from '../line.js';
import { quote, say } from '../spans.js';

/** Rows that follow are indented up to here. */
const HANGING = say('', 'gutter');

/** Why there is no result. */
export interface Problem {
  readonly message: string;
  readonly hint?: string | undefined;
  readonly faults?: readonly string[] | undefined;
}

/** What there is to be warned of, and why there is no result; nothing where all is well. */
export function problemLines(
  warnings: readonly Warning[],
  failure: Problem | null = null,
  title = 'PROBLEMS',
): Line[] {
  if (warnings.length === 0 && !failure) return [];
  return [
    [say(title, 'title')],
    ...(failure ? failureLines(failure) : []),
    ...warnings.map(({ id, message }): Line => {
      const about = id ? [say(` [${id}]`, 'dim')] : [];
      return [say('! ', 'warn'), HANGING, ...quote(message), ...about];
    }),
  ];
}

function failureLines({ message, hint, faults = [] }: Problem): Line[] {
  const advice: Line[] = hint === undefined ? [] : [[say('  ', 'gutter'), ...quote(hint, 'dim')]];
  const told = faults.map((fault): Line => [say('    ', 'gutter'), ...quote(fault)]);
  return [[say('✗ ', 'bad'), HANGING, ...quote(message)], ...told, ...advice];
}
