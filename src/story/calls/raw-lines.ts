import type { Content } from '../../exchange/content.js';
import { withoutPowerInText } from '../../exchange/shareable.js';
import { bytesText } from '../../text/bytes-text.js';
import type { Redactor } from '../../text/redact.js';
import type { Line } from '../line.js';
import { beginningText } from '../message-text.js';
import { say } from '../spans.js';
import { textLines } from '../text-lines.js';
import { hexLines } from './hex-lines.js';

/** Of one message: the whole of it is in the wire's own view. */
const MOST = { lines: 40, characters: 16_000, bytes: 256 };
/** So many bytes are looked at, that no half of a secret is left at the end of what is shown. */
const LOOKED_AT = 4_096;

/** The beginning of a body as it was on the wire, safe to print: as text where it is UTF-8, else in hex. Secrets out. */
export function rawLines(body: Content, redactor: Redactor): readonly Line[] {
  if (body.size === 0) return [];
  const text = beginningText(body, redactor);
  return text === null ? hexOf(body, redactor) : textOf(text, body);
}

function textOf(text: string, { size }: Content): readonly Line[] {
  const { lines, total } = textLines(text.slice(0, MOST.characters), MOST.lines);
  const isAll = total === lines.length && text.length <= MOST.characters;
  return isAll ? lines : [...lines, restLine(size)];
}

function hexOf({ bytes, size }: Content, redactor: Redactor): readonly Line[] {
  const text = Buffer.from(bytes.subarray(0, LOOKED_AT)).toString('latin1');
  const clean = Buffer.from(redactor.text(withoutPowerInText(text)), 'latin1');
  const lines = hexLines(clean.subarray(0, MOST.bytes));
  return size <= MOST.bytes ? lines : [...lines, restLine(size)];
}

function restLine(size: number): Line {
  return [say(`… of ${bytesText(size)} in all`, 'dim')];
}
