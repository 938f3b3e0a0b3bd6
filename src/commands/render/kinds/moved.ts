import type { Saved, SavedAnswer } from './kind.js';

/** A part of a JSON value, seen from the whole: its answers stand below that place. */
export function movedInto(place: readonly PropertyKey[], saved: Saved): Saved {
  return withAnswers(saved, ({ at, ...answer }) => (at ? { ...answer, at: [...place, ...at] } : answer));
}

/** The same, whose answers are something else. */
export function withAnswers(saved: Saved, change: (answer: SavedAnswer) => SavedAnswer): Saved {
  return {
    sections: view => saved.sections(view),
    report: view => saved.report(view),
    answers: to => (saved.answers?.(to) ?? []).map(change),
    faults: saved.faults,
  };
}
