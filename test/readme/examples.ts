/** One command of a README's `console` block, and what the README says it prints. */
export interface Example {
  readonly command: string;
  /** Lines; `…` stands for whatever else there is. */
  readonly output: readonly string[];
}

/** Every `$ …` line of the `console` blocks, with the lines below it. */
export function examplesOf(markdown: string): Example[] {
  return blocksOf(markdown, 'console').flatMap(block =>
    block
      .split(/^\$ /m)
      .slice(1)
      .map(part => {
        const [command = '', ...output] = part.trimEnd().split('\n');
        return { command, output };
      }),
  );
}

export function blocksOf(markdown: string, language: string): string[] {
  return [...markdown.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(
    ([, block = '']) => block,
  );
}

/** Ports and times differ from run to run, and so do the blanks that fill a column; the words do not. */
export function withoutNumbers(line: string): string {
  return line.replace(/ *\d+(?:\.\d+)?(?:ms|s)?/g, ' #').trimEnd();
}
