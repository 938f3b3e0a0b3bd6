import type { RecorderOptions } from '../../record/recorded-calls.js';
import { ProtocolCliError } from '../../util/errors.js';
import { readUrl } from '../../util/strings.js';
import { asUrl } from '../target.js';

export const RECORD_OUTPUTS = ['plain', 'ndjson'] as const;

/** The options of `record`, as commander hands them over. */
export interface RecordFlags {
  readonly host: string;
  readonly port: number;
  readonly allowHost?: readonly string[];
  readonly callbackUrl?: string;
  readonly allowCallback?: readonly string[];
  /** Bytes. */
  readonly maxBody: number;
  /** Milliseconds. */
  readonly drain: number;
  readonly save?: string;
  readonly output: (typeof RECORD_OUTPUTS)[number];
  readonly quiet?: true;
  readonly color: boolean;
}

/** What is to be done. */
export interface RecordPlan {
  readonly recorder: RecorderOptions;
  /** Null where the events on stdout are all there is. */
  readonly file: string | null;
  readonly flags: RecordFlags;
}

/** @throws ProtocolCliError `usage`. */
export function planRecord(url: string, flags: RecordFlags): RecordPlan {
  const { save: file = null, output } = flags;
  if (file === null && output !== 'ndjson')
    throw usage('nothing would be recorded', 'Add --save <file>, or -o ndjson for stdout.');
  if (file === '-') throw usage('--save - names no file', '-o ndjson writes the transcript to stdout.');
  return { recorder: { url: toolUrl(url), ...optionsOf(flags) }, file, flags };
}

function toolUrl(word: string): string {
  if (readUrl(word)?.username || readUrl(word)?.password)
    throw usage(
      'the URL of the tool carries a user name or a password',
      "Leave them out: what the runtime sends in its headers goes on to the tool's own origin.",
    );
  const url = asUrl(word);
  if (url !== null) return url;
  throw usage(`"${word}" is no URL of a tool server`, 'Give its base, such as http://127.0.0.1:3001.');
}

function optionsOf({ host, port, allowHost, callbackUrl, allowCallback, maxBody, drain }: RecordFlags) {
  return {
    ...{ host, port, maxBody, drainMs: drain },
    ...(allowHost && { allowHosts: allowHost }),
    ...(allowCallback && { allowCallbacks: allowCallback }),
    ...(callbackUrl !== undefined && { callbackBase: callbackUrl }),
  };
}

function usage(message: string, hint: string): ProtocolCliError {
  return new ProtocolCliError('usage', message, { hint });
}
