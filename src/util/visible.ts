/**
 * Makes untrusted text safe for a terminal (threats, row 24) and for the log of a CI job: all characters are visible, and the terminal
 * interprets none. C0 controls become their control pictures (U+2400 block), DEL becomes U+2421, other hidden characters become
 * `<U+XXXX>`. `\n` stays; `\t` is expanded to the next multiple of four columns; `⚠️` loses its U+FE0F.
 */
interface VisibleRun {
  readonly text: string;
  /** Whether the run replaces hidden characters, or one that begins a CI workflow command. */
  readonly isReplaced: boolean;
}

const ESC = '\u001b';
const COLOURS = new RegExp(`${ESC}\\[[\\d;:]*m`, 'g');

/** The text of a log without its colours, which would be shown as control pictures. */
export function withoutColours(text: string): string {
  return text.replaceAll(COLOURS, '');
}

const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;
const TAB = 4;

const EMOJI_STYLE = /(?<=\p{Extended_Pictographic})\uFE0F|(?<=[#*\d])\uFE0F(?=\u20E3)/uy;

/**
 * Whether the character at an offset only asks for the coloured form of the emoji before it, as in `⚠️`. It hides nothing, and is left out
 * where text is drawn: terminals do not agree on the width of that form.
 */
function isEmojiStyle(text: string, at: number): boolean {
  EMOJI_STYLE.lastIndex = at;
  return EMOJI_STYLE.test(text);
}

/** What follows the first colon of GitHub's `::error::`, which is a command at the start of a line. */
const COLON_COMMAND = /:[A-Za-z][\w-]*(?:\s[^\n]*?)?::/;

/** The `#` to replace in commands that may be anywhere in a line: `##[error]` (GitHub, Azure), `##vso[` (Azure), `##teamcity[`. */
export const HASH_COMMAND = /#(?<=##)(?=(?:[Vv][Ss][Oo]|[Tt][Ee][Aa][Mm][Cc][Ii][Tt][Yy])?\[)/u;

/**
 * The character to replace in a CI workflow command, so that quoted untrusted text cannot issue one (threats, row 32). A colon is
 * replaced at the start of a line, and after a blank, where a line may wrap.
 */
const COMMAND = new RegExp(`:(?<=(?:^|\\s):)(?=${COLON_COMMAND.source})|${HASH_COMMAND.source}`, 'gmu');
const REPLACED = new RegExp(`${HIDDEN.source}|${COMMAND.source}`, 'gmu');

/** The offsets of the characters to replace, so that no CI system takes a part of the text for a command. */
export function commandsIn(text: string): readonly number[] {
  if (!text.includes('::') && !text.includes('##')) return [];
  return Array.from(text.matchAll(COMMAND), ({ index }) => index);
}

const COMMAND_HERE = new RegExp(`:${COLON_COMMAND.source}`, 'uy');

/** Whether a line that begins at an offset would be a command. */
export function startsCommand(text: string, at: number): boolean {
  COMMAND_HERE.lastIndex = at;
  return COMMAND_HERE.test(text);
}

/** Splits text into runs that are safe to print. @param startColumn the column of the text's start, for tabs */
export function visibleRuns(text: string, startColumn = 0): VisibleRun[] {
  const runs: VisibleRun[] = [];
  let from = 0;
  let column = startColumn;
  const push = (run: VisibleRun) => {
    const last = runs.at(-1);
    if (last && last.isReplaced === run.isReplaced)
      runs[runs.length - 1] = { text: last.text + run.text, isReplaced: run.isReplaced };
    else runs.push(run);
    const lineStart = run.text.lastIndexOf('\n');
    column = lineStart < 0 ? column + run.text.length : run.text.length - lineStart - 1;
  };
  for (const match of text.matchAll(REPLACED)) {
    if (match[0] === '\n' || (match[0] === ':' && match.index === 0 && startColumn > 0)) continue;
    if (match.index > from) push({ text: text.slice(from, match.index), isReplaced: false });
    if (match[0] === '\uFE0F' && isEmojiStyle(text, match.index)) push({ text: '', isReplaced: false });
    else if (match[0] === '\t') push({ text: ' '.repeat(TAB - (column % TAB)), isReplaced: false });
    else push({ text: replacementOf(match[0]), isReplaced: true });
    from = match.index + match[0].length;
  }
  if (from < text.length) push({ text: text.slice(from), isReplaced: false });
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

/** Maximum number of replacements listed. */
const MAX_REPLACEMENTS = 3;

/** The characters that {@link visible} replaces, except tabs and line feeds: their number, and the first few replacements. */
export function hiddenIn(...texts: readonly string[]) {
  const replacements = new Set<string>();
  let count = 0;
  for (const text of texts)
    for (const { 0: character, index } of text.matchAll(HIDDEN)) {
      if (character === '\n' || character === '\t' || isEmojiStyle(text, index)) continue;
      count++;
      if (replacements.size < MAX_REPLACEMENTS) replacements.add(replacementOf(character));
    }
  return { count, replacements: [...replacements] };
}

/** What is shown in place of a character. */
export function replacementOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  if (code === 0x7f) return '␡';
  return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
}
