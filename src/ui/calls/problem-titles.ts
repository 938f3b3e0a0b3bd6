/** What is known by now of the problems of a call. */
export interface ProblemCount {
  /** Requirements. */
  readonly broken: number;
  /** It is too much to be judged unasked, and nobody asked. */
  readonly isLeft: boolean;
}

/** The last tab is that of the problems: how many there are stands where one can read which; `?` where nobody looked. */
export function titlesWith(titles: readonly string[], { broken, isLeft }: ProblemCount): readonly string[] {
  if (broken === 0 && !isLeft) return titles;
  return titles.with(-1, `${titles.at(-1)} ${isLeft ? '?' : broken}`);
}
