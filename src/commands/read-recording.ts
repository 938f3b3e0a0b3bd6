import {
  isTranscript,
  readTranscripts,
  type Transcript,
  withoutReadyLines,
} from '../events/transcript-reader.js';
import { ProtocolCliError } from '../util/errors.js';
import { byteLines } from '../util/text.js';

// Apart from save-files.ts, which every call loads: the schema of a transcript takes time.

const HEAD = 256 * 1024;

/**
 * The recording in the bytes of a file; null if they are something else.
 * @throws ProtocolCliError `unreadable-file` for several recordings, as `cat` joins them.
 */
export function readRecording(name: string, bytes: Uint8Array): Transcript | null {
  if (!isTranscript(new TextDecoder().decode(bytes.subarray(0, HEAD)))) return null;
  const [transcript, ...others] = readTranscripts(withoutReadyLines(byteLines(bytes)));
  if (others.length === 0) return transcript ?? null;
  throw new ProtocolCliError('unreadable-file', `${name} holds ${others.length + 1} recordings`, {
    hint: 'Give each recording its own file. A recording begins with a line {"kind":"header",…}.',
  });
}
