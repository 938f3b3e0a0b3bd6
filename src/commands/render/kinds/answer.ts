import type { SoundReading } from '../../../dialects/dialect.js';
import { llmPane } from '../../../story/panes.js';
import { answerLines, besideLines } from '../../../story/saved/answer-lines.js';
import { problemLines } from '../../../story/saved/problem-lines.js';
import { textWarnings } from '../../../story/warnings.js';
import { linesSection, type Section } from '../sheet.js';
import type { Saved } from './kind.js';

/** An answer as it came on some wire, shown by itself. @param kind what `-o json` calls it @param panes where the wire has its own */
export function savedAnswer(kind: string, reading: SoundReading, panes?: Section): Saved {
  return {
    sections: () => [
      ...answerSections(kind, reading, panes),
      linesSection(problemLines(warningsOf(reading))),
    ],
    report: () => ({
      kind,
      message: reading.native,
      ...answerReport(reading),
      warnings: warningsOf(reading),
    }),
    answers: () => [{ ...reading, at: [] }],
    faults: [],
  };
}

/** What it says: how the call ended, what the model gets, what stands beside. */
export function answerSections(
  kind: string,
  reading: SoundReading,
  panes: Section = { kind: 'pane', pane: llmPane(reading.text, true) },
): Section[] {
  return [linesSection(answerLines(kind, reading)), panes, linesSection(besideLines(reading))];
}

export function answerReport({ answer, text }: SoundReading): object {
  return { outcome: answer.outcome, llm: { text } };
}

/** With what is odd about the JSON it was read from. */
export function noted(reading: SoundReading, notes: readonly string[]): SoundReading {
  return { ...reading, notes: [...notes, ...reading.notes] };
}

export function warningsOf({ notes, text }: SoundReading) {
  return [...notes.map(message => ({ message })), ...textWarnings(text)];
}
