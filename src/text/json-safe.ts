/** What is unseen, and the `#` that breaks a workflow command of a CI system (`##[error]`, `##vso[`, `##teamcity[`). */
const UNSAFE =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|#(?<=##)(?=(?:[Vv][Ss][Oo]|[Tt][Ee][Aa][Mm][Cc][Ii][Tt][Yy])?\[)/gu;

/**
 * JSON that is safe on a terminal and in a CI log: what `JSON.stringify` leaves raw (C1, DEL, bidi and invisible characters) is written as
 * `\uXXXX`, which means the same to every reader.
 */
export function safeJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replace(UNSAFE, character =>
    character === '\n' ? '\n' : escaped(character),
  );
}

/** A JSON text as it was written, safe likewise: nothing but what is unseen is written otherwise, and blanks stay. */
export function safeSource(text: string): string {
  return text.replace(UNSAFE, character => (/[\n\r\t]/.test(character) ? character : escaped(character)));
}

function escaped(character: string): string {
  return [...Array(character.length).keys()]
    .map(at => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`)
    .join('');
}
