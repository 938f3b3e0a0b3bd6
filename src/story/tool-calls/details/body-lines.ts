import type { Content } from '../../../exchange/content.js';
import { bytesText } from '../../../text/bytes-text.js';
import { decodeUtf8 } from '../../../text/json.js';
import { prettyJson } from '../../../text/json-pretty.js';
import type { Redactor } from '../../../text/redact.js';
import type { Line } from '../../line.js';
import { say } from '../../spans.js';
import { textLines } from '../../text-lines.js';

/** Of one message: nobody reads on in a list of calls, and each one is laid out. */
const MAX_LINES = 500;

/** A message as its bytes say it, indented where it is JSON; without the secrets of callback URLs. */
export function bodyLines(body: Content | null, secrets: Redactor): Line[] {
  if (!body) return [[say('(not remembered)', 'dim')]];
  const text = decodeUtf8(body.bytes);
  return text === null
    ? [[say(`(${bytesText(body.size)} that are not UTF-8)`, 'dim')]]
    : jsonLines(text, secrets);
}

/** The same for a text. */
export function jsonLines(text: string, secrets: Redactor): Line[] {
  const clean = secrets.text(text);
  const { lines, total } = textLines(prettyJson(clean) ?? clean, MAX_LINES);
  const more = total - lines.length;
  const indented = lines.map(hanging);
  return more > 0 ? [...indented, [say(`… ${more} more lines`, 'dim')]] : indented;
}

/** Where a line is wrapped, its rows keep its indent. */
function hanging(line: Line): Line {
  const [first, ...rest] = line;
  const [indent = ''] = /^ */.exec(first?.text ?? '') ?? [];
  if (!first || indent === '') return line;
  return [say(indent, 'gutter'), { ...first, text: first.text.slice(indent.length) }, ...rest];
}
