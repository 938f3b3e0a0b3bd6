/** A fault of a file, and the line that has it. */
export interface LineFault {
  readonly line: number;
  readonly reason: string;
}

/** So many lines with the same fault are told one by one; of more, the first. */
const ONE_BY_ONE = 3;

/** Faults in words, in their order: what is wrong with very many lines is told once. */
export function faultWords(faults: readonly LineFault[]): string[] {
  const linesOf = new Map<string, number[]>();
  for (const { line, reason } of faults) {
    const known = linesOf.get(reason);
    if (known) known.push(line);
    else linesOf.set(reason, [line]);
  }
  return faults.flatMap(({ line, reason }) => {
    const [first, ...others] = linesOf.get(reason) ?? [];
    if (others.length < ONE_BY_ONE) return [`line ${line}: ${reason}`];
    return line === first
      ? [`line ${line}: ${reason}, as ${others.length} more do until line ${others.at(-1)}`]
      : [];
  });
}
