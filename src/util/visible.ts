/**
 * Makes untrusted text safe for a terminal (threats, row 24) and for the log of a CI job: all characters stay visible, and none takes
 * effect. C0 controls become their control pictures (U+2400 block), DEL becomes U+2421, everything else invisible becomes `<U+XXXX>`.
 * `\n` stays; `\t` is expanded to the next multiple of four columns.
 */
interface VisibleRun {
  readonly text: string;
  /** Whether the run replaces characters that are invisible or act on a terminal or CI log. */
  readonly hidden: boolean;
}

const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;
const TAB = 4;

/**
 * The character to replace in a CI workflow command, so that quoted untrusted text cannot issue one: GitHub's `::error::` at the start
 * of a line or where a line may wrap; anywhere `##[error]` (GitHub, Azure), `##vso[` (Azure) and `##teamcity[`.
 */
const COMMAND =
  /:(?<=(?:^|\s):)(?=:[A-Za-z][\w-]*(?:\s[^\n]*?)?::)|#(?<=##)(?=(?:[Vv][Ss][Oo]|[Tt][Ee][Aa][Mm][Cc][Ii][Tt][Yy])?\[)/u;
const ACTING = new RegExp(`${UNSEEN.source}|${COMMAND.source}`, 'gmu');

/** Splits text into runs that are safe to print. @param startColumn the column of the text's start, for tabs */
export function visibleRuns(text: string, startColumn = 0): VisibleRun[] {
  const runs: VisibleRun[] = [];
  let from = 0;
  let column = startColumn;
  const push = (run: VisibleRun) => {
    const last = runs.at(-1);
    if (last && last.hidden === run.hidden)
      runs[runs.length - 1] = { text: last.text + run.text, hidden: run.hidden };
    else runs.push(run);
    const lineStart = run.text.lastIndexOf('\n');
    column = lineStart < 0 ? column + run.text.length : run.text.length - lineStart - 1;
  };
  for (const match of text.matchAll(ACTING)) {
    if (match[0] === '\n' || (match[0] === ':' && match.index === 0 && startColumn > 0)) continue;
    if (match.index > from) push({ text: text.slice(from, match.index), hidden: false });
    if (match[0] === '\t') push({ text: ' '.repeat(TAB - (column % TAB)), hidden: false });
    else push({ text: picture(match[0]), hidden: true });
    from = match.index + match[0].length;
  }
  if (from < text.length) push({ text: text.slice(from), hidden: false });
  return runs;
}

export function visible(text: string): string {
  return visibleRuns(text)
    .map(run => run.text)
    .join('');
}

/** As {@link visible}, on one line: line feeds are replaced too. */
export function visibleLine(text: string): string {
  return visible(text).replaceAll('\n', '␊');
}

/** Number of characters that {@link visible} replaces (tabs and line feeds are not counted). */
export function countUnseen(text: string): number {
  let count = 0;
  for (const [character] of text.matchAll(UNSEEN)) if (character !== '\n' && character !== '\t') count++;
  return count;
}

/** Each character that {@link countUnseen} counts, in the form of {@link visible}. */
export function* picturesIn(text: string): Generator<string> {
  for (const [character] of text.matchAll(UNSEEN))
    if (character !== '\n' && character !== '\t') yield picture(character);
}

function picture(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  if (code === 0x7f) return '␡';
  return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
}
