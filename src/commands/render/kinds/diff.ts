import type { Diff } from '../../../display/diff/model.js';
import { parsePatch } from '../../../display/diff/parse.js';
import type { Warning } from '../../../protocol/requirements.js';
import type { Line } from '../../../story/line.js';
import { problemLines } from '../../../story/saved/problem-lines.js';
import { quote } from '../../../story/spans.js';
import { linesSection } from '../sheet.js';
import type { Recognition, Saved } from './kind.js';

/** With its article, for a person. */
export const DIFF_NAME = 'a unified diff';

/** Where the first file of a diff begins; what stands before, as the message of `git show`, is prose. */
const START = /^(?:diff --git |Index: |--- .*\n\+\+\+ |@@ -\d)/m;

/** What `color.ui = always` puts into a diff, the escape character before it included. */
const COLOURS = /\p{Cc}\[[\d;]*[mK]/gu;

/** The text, where it has something of a diff; without its colours, where it is one only without them. Null for any other. */
export function diffIn(text: string): string | null {
  const isDiff = (each: string) => START.test(each);
  if (isDiff(text)) return text;
  const plain = text.replace(COLOURS, '');
  return isDiff(plain) ? plain : null;
}

/** A bare unified diff, as `git diff` and `git show` print it. */
export function readDiff(text: string): Recognition {
  const start = text.search(START);
  const parsed = parsePatch(text.slice(start));
  if (!parsed.ok) return { ok: false, faults: [moved(parsed.reason, text.slice(0, start))] };
  const { diff, recounted } = parsed;
  const warnings = recounted.map(message => ({ id: 'TOOL-DIFF', message }) as const);
  return { ok: true, saved: savedDiff(text.slice(0, start), { text: text.slice(start), diff, warnings }) };
}

interface Parsed {
  readonly text: string;
  readonly diff: Diff;
  readonly warnings: readonly Warning[];
}

function savedDiff(prose: string, { text, diff, warnings }: Parsed): Saved {
  const said = prose.trim() === '' ? [] : prose.trim().split('\n');
  return {
    sections: () => [
      linesSection(said.map((line): Line => quote(line))),
      { kind: 'drawing', drawing: { kind: 'diff', path: '', diff, raw: text } },
      linesSection(problemLines(warnings)),
    ],
    report: () => ({ kind: 'diff', ...summary(diff), warnings }),
    faults: [],
  };
}

function summary({ files, added, removed }: Diff): object {
  return {
    files: files.map(({ hunks, oldPath, newPath, kind, added: plus, removed: minus }) => ({
      oldPath,
      newPath,
      kind,
      hunks: hunks.length,
      added: plus,
      removed: minus,
    })),
    added,
    removed,
  };
}

/** The line that a reason names, counted from the start of the file. */
function moved(reason: string, before: string): string {
  const lines = before.split('\n').length - 1;
  return reason.replace(/^line (\d+)/, (_, number: string) => `line ${Number(number) + lines}`);
}
