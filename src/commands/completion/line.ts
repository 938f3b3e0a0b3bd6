import type { Command, Option } from 'commander';

/** A line up to the cursor: the words before the one that is being typed, which may be empty. */
export interface TypedLine {
  readonly before: readonly string[];
  readonly current: string;
}

const PART = /(\s+)|'([^']*)'?|"((?:[^"\\]|\\.)*)"?|\\(.?)|[^\s'"\\]+/gs;

/** Splits a line as shells do, but expands nothing. Words up to the name of the program are left out; a quote may still be open. */
export function readLine(line: string): TypedLine {
  const words = [''];
  for (const [part, space, single, double, escaped] of line.trimStart().matchAll(PART)) {
    const text = single ?? double?.replaceAll(/\\(["\\$`])/g, '$1') ?? escaped ?? part;
    if (space !== undefined) words.push('');
    else words[words.length - 1] += text;
  }
  const program = words.findIndex(word => /(?:^|[\\/])protocol-cli$/.test(word));
  const [current = '', ...before] = words.slice(program + 1).reverse();
  return { before: before.reverse(), current };
}

/** What the words after a command say so far. */
export interface Given {
  readonly positionals: readonly string[];
  /** By the names of the options in code, `probeTimeout`; the last one counts. */
  readonly values: ReadonlyMap<string, string>;
  /** The option whose value is next. */
  readonly awaiting: Option | null;
}

export function readGiven(words: readonly string[], { options }: Command): Given {
  const positionals: string[] = [];
  const values = new Map<string, string>();
  let awaiting: Option | null = null;
  for (const word of words) {
    const before: Option | null = awaiting;
    awaiting = null;
    const [name = '', value] = word.startsWith('--') ? word.split(/=(.*)/s) : [word];
    const option = options.find(({ short, long }) => name === short || name === long);
    if (before && takesNext(before, word)) values.set(before.attributeName(), word);
    else if (option) {
      values.set(option.attributeName(), value ?? '');
      awaiting = value === undefined ? withValue(option) : null;
    } else if (!word.startsWith('-')) positionals.push(word);
  }
  return { positionals, values, awaiting };
}

function withValue(option: Option): Option | null {
  return option.required || option.optional ? option : null;
}

/** Whether this word is the value of the option before it. */
export function takesNext({ required }: Option, word: string): boolean {
  return required || !word.startsWith('-');
}
