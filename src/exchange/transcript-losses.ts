import type { Transcript } from './transcript-reader.js';

const NO_HEADER = 'its header is missing, and perhaps what came first';
const NO_END =
  'it stops without an end line: whoever wrote it still ran, was killed, or the last lines were cut off';

/** What of a transcript is not there, besides what could not be read: before it, in it and after it. @param which one of several it is */
export function missingFrom({ header, end, lost }: Transcript, which = ''): readonly string[] {
  return [
    ...(header === null ? [which + NO_HEADER] : []),
    ...lost,
    ...(end === null ? [which + NO_END] : []),
  ];
}

/** Whether all that happened is in it: only then does what is not in it mean that it did not happen. */
export function isWhole(transcript: Transcript): boolean {
  return transcript.faults.length === 0 && missingFrom(transcript).length === 0;
}
