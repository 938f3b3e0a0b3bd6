import type { Tool, Toolset } from '../protocol/toolset.js';
import { clipped, type Line, line, quote, say, took } from './line.js';
import { nestedPropertyLines, propertyLines } from './schema.js';

/** A toolset as a list for people. */
export function toolsetLines({ name, description = '', endpoint, tools }: Toolset): Line[] {
  return [
    line`${quote(name, 'title')}${description && '  '}${quote(description)}`,
    line`${say('endpoint ', 'dim')}${quote(endpoint)}`,
    ...tools.flatMap(tool => [[], ...toolLines(tool)]),
  ];
}

/** An operation in the list: {@link headLines}, and a line for each argument. */
export function toolLines(tool: Tool): Line[] {
  return [...headLines(tool), ...propertyLines(tool.inputSchema)];
}

/** An operation alone: with the parts of its arguments, and a call to paste. */
export function operationLines(tool: Tool, example: Line): Line[] {
  const args = nestedPropertyLines(tool.inputSchema);
  return [...headLines(tool), ...(args.length > 0 ? args : [[say('    no arguments', 'dim')]]), [], example];
}

/** Its annotations, its description, its display script as text. */
function headLines({ name, description, annotations = {}, displayScript }: Tool): Line[] {
  const notes = Object.entries(annotations).flatMap(([key, value]) => {
    if (value === false || value === undefined) return [];
    return value === true ? [key] : [`${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`];
  });
  const tone = annotations.destructive ? 'bad' : 'dim';
  return [
    line`${quote(name, 'title')}${notes.length > 0 && line`  ${quote(notes.join(', '), tone)}`}`,
    line`  ${quote(description)}`,
    ...(displayScript === undefined ? [] : [[say('  display script  ', 'dim'), ...clipped(displayScript)]]),
  ];
}

export interface SentNotice {
  readonly url: string;
  readonly message: object;
  /** Null without an answer; then `said` is the reason. */
  readonly status: number | null;
  /** The body of the answer. */
  readonly said: string;
  readonly ms: number;
}

/** Describes a notice on one line: the request, the answer, and the time. */
export function noticeLine({ url, message, status, said, ms }: SentNotice): Line {
  const mark = status === 200 ? say('✓', 'good') : say('✗', 'bad');
  const answer =
    status === null ? 'not answered' : `answered ${status}${status === 200 ? '' : ' instead of 200'}`;
  const sent = quote(JSON.stringify(message), 'dim');
  return line`${mark} ${quote(url, 'title')} ${sent} ${answer}${took(ms)}${said !== '' && line`: ${quote(said)}`}`;
}
