import { CI_COMMAND } from './ci-commands.js';

/** A part of a text that is safe to print. */
export interface VisibleRun {
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

/** A character that a reader cannot see, or that a terminal interprets; a tab and a line feed too. */
export const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;

const EACH_HIDDEN = new RegExp(HIDDEN, 'gu');

/** Each character that is replaced in a text to print. */
const EACH_UNSAFE = new RegExp(`${HIDDEN.source}|${CI_COMMAND.source}`, 'gmu');

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

/**
 * Makes untrusted text safe for a terminal (threats, row 24) and for the log of a CI job: all characters are visible, and the terminal
 * interprets none. C0 controls become their control pictures (U+2400 block), DEL becomes U+2421, other hidden characters become
 * `<U+XXXX>`. `\n` stays; `\t` is expanded to the next multiple of four columns; `⚠️` loses its U+FE0F.
 * @param startColumn the column of the text's start, for tabs
 */
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
  for (const { 0: character, index } of text.matchAll(EACH_UNSAFE)) {
    const isInsideLine = index === 0 && startColumn > 0;
    if (character === '\n' || (character === ':' && isInsideLine)) continue;
    if (index > from) push({ text: text.slice(from, index), isReplaced: false });
    push(runInsteadOf(character, isEmojiStyle(text, index), column));
    from = index + character.length;
  }
  if (from < text.length) push({ text: text.slice(from), isReplaced: false });
  return runs;
}

/** @param isStyle whether the character only styles an emoji */
function runInsteadOf(character: string, isStyle: boolean, column: number): VisibleRun {
  if (isStyle) return { text: '', isReplaced: false };
  if (character === '\t') return { text: ' '.repeat(TAB - (column % TAB)), isReplaced: false };
  return { text: replacementOf(character), isReplaced: true };
}

/** As {@link visibleRuns}, in one text. */
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

export interface HiddenCharacters {
  readonly count: number;
  /** What the first few are replaced by. */
  readonly replacements: readonly string[];
}

/** The characters that {@link visible} replaces, except tabs and line feeds: their number, and the first few replacements. */
export function hiddenIn(...texts: readonly string[]): HiddenCharacters {
  const replacements = new Set<string>();
  let count = 0;
  for (const text of texts)
    for (const { 0: character, index } of text.matchAll(EACH_HIDDEN)) {
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
