/** The rest of a command after its first colon: `:error::` of `::error::`, `:warning file=a.ts::`. */
const AFTER_COLON = ':[A-Za-z][\\w-]*(?:\\s[^\\n]*?)?::';

/** The `#` to replace in commands that may be anywhere in a line: `##[error]` (GitHub, Azure), `##vso[` (Azure), `##teamcity[`. */
export const HASH_COMMAND = /#(?<=##)(?=(?:[Vv][Ss][Oo]|[Tt][Ee][Aa][Mm][Cc][Ii][Tt][Yy])?\[)/u;

/**
 * The character to replace in a CI workflow command, so that quoted untrusted text cannot issue one (threats, row 32). `::error::` is a
 * command at the start of a line only; its colon is also replaced after a blank, where a line may wrap.
 */
export const CI_COMMAND = new RegExp(`:(?<=(?:^|\\s):)(?=${AFTER_COLON})|${HASH_COMMAND.source}`, 'mu');

const EACH_COMMAND = new RegExp(CI_COMMAND, 'gmu');

const COLON_COMMAND_HERE = new RegExp(`:${AFTER_COLON}`, 'uy');

/** The offsets of the characters to replace, so that no CI system takes a part of the text for a command. */
export function commandsIn(text: string): readonly number[] {
  if (!text.includes('::') && !text.includes('##')) return [];
  return Array.from(text.matchAll(EACH_COMMAND), ({ index }) => index);
}

/** Whether a line that begins at an offset would be a command. */
export function startsCommand(text: string, at: number): boolean {
  COLON_COMMAND_HERE.lastIndex = at;
  return COLON_COMMAND_HERE.test(text);
}
