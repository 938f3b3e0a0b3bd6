import type { Readable } from 'node:stream';
import { isRecord } from '../text/is-record.js';

const LONGEST_LINE = 64 * 1024;

export interface Ready {
  readonly port: number;
  /** All that the line said. */
  readonly said: Record<string, unknown>;
}

/**
 * Reads the first line of a stream, and lets the rest run dry.
 * @throws Error where the stream ends before the line does, or the line is longer than 64 KiB.
 */
export function firstLine(stream: Readable): Promise<string> {
  return new Promise((resolve, reject) => {
    let line = '';
    const take = (text: string) => {
      line += text;
      const end = line.indexOf('\n');
      if (end < 0 && line.length <= LONGEST_LINE) return;
      stream.off('data', take).resume();
      if (end >= 0 && end <= LONGEST_LINE) resolve(line.slice(0, end));
      else reject(new Error('its first line is longer than 64 KiB'));
    };
    stream
      .setEncoding('utf8')
      .on('data', take)
      .once('close', () => reject(new Error('it closed its stdout before the first line ended')));
  });
}

/**
 * Reads `{"port":N, …}`.
 * @throws Error which says what the line is instead.
 */
export function parseReady(line: string): Ready {
  const said = parseObject(line);
  const port = said?.port;
  if (!said) throw new Error('its first line is not a JSON object');
  if (typeof port !== 'number' || !Number.isInteger(port) || port < 1 || port > 65_535)
    throw new Error('its first line has no "port" from 1 to 65535');
  return { port, said };
}

function parseObject(line: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}
