import { problemLines } from '../../../story/saved/problem-lines.js';
import { say } from '../../../story/spans.js';
import { linesSection, type Section } from '../sheet.js';
import type { Saved, View } from './kind.js';

/** Several things in one file, one after the other. @param notes what is odd about the file @param noun what each of them is */
export function savedSeveral(all: readonly Saved[], notes: readonly string[], noun = 'message'): Saved {
  const warnings = notes.map(message => ({ message }));
  return {
    sections: view => [
      ...all.flatMap((each, index) =>
        numbered(each, `${noun.toUpperCase()} ${index + 1} of ${all.length}`, view),
      ),
      linesSection(problemLines(warnings)),
    ],
    report: view => ({ kind: `${noun}s`, [`${noun}s`]: all.map(each => each.report(view)), warnings }),
    answers: to => all.flatMap(each => each.answers?.(to) ?? []),
    faults: all.flatMap(({ faults }) => faults),
    losses: all.flatMap(({ losses = [] }) => losses),
  };
}

function numbered(saved: Saved, title: string, view: View): Section[] {
  return [linesSection([[say(title, 'title')]]), ...saved.sections(view)];
}
