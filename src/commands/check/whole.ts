import type { CheckPlan } from './plan.js';

/** How to see the messages of a check whole: they are in its transcript. */
export function howToSeeWhole({ subject, flags: { save } }: Pick<CheckPlan, 'subject' | 'flags'>): string {
  if (save !== undefined) return `protocol-cli render ${word(save)}`;
  if (subject.kind === 'tool')
    return 'check again with --save check.ndjson, then protocol-cli render check.ndjson';
  return `protocol-cli render ${word(subject.file)}`;
}

/** As a shell takes it for one word. */
function word(file: string): string {
  return /^[\w./@%+=:,-]+$/.test(file) ? file : `'${file.replaceAll("'", "'\\''")}'`;
}
