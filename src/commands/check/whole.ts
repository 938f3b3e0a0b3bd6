import { shellWord } from '../../text/shell-word.js';
import type { CheckPlan } from './plan.js';

/** How to see the messages of a check whole: they are in its transcript. */
export function howToSeeWhole({ subject, flags: { save } }: Pick<CheckPlan, 'subject' | 'flags'>): string {
  if (save !== undefined) return `protocol-cli render ${shellWord(save)}`;
  if (subject.kind === 'tool')
    return 'check again with --save check.ndjson, then protocol-cli render check.ndjson';
  if (subject.file === '-') return 'save it to a file first, then protocol-cli render that file';
  return `protocol-cli render ${shellWord(subject.file)}`;
}
