import { ProtocolCliError } from '../../errors.js';
import type { TranscriptHeader } from '../../exchange/transcript-format.js';
import type { Transcript } from '../../exchange/transcript-reader.js';
import { isTranscript, withoutReadyLines } from '../../exchange/transcript-signs.js';
import type { NamedRecording } from '../../fixtures/recorded/together.js';
import { byteLines } from '../../text/byte-lines.js';
import { visibleLine } from '../../text/visible.js';
import type { FixtureBytes } from './fixture-files.js';

/** Bytes that are enough to see what a file is. */
const HEAD = 64 * 1024;

/** By its name or by how it begins. */
export function isTranscriptFile({ path, bytes }: FixtureBytes): boolean {
  return /\.ndjson$/i.test(path) || isTranscript(new TextDecoder().decode(bytes.subarray(0, HEAD)));
}

/** @throws ProtocolCliError `usage`. */
export function refuseSpeed(speed: number | undefined): void {
  if (speed === undefined) return;
  throw new ProtocolCliError('usage', '--speed is for transcripts, and there is none', {
    hint: 'Fixtures say their own delays. A transcript is what --save writes, such as run.ndjson.',
  });
}

/** Transcripts as fixtures, and where they are from. */
export interface Recordings {
  readonly recordings: readonly NamedRecording[];
  readonly headers: readonly { readonly path: string; readonly header: TranscriptHeader | null }[];
  readonly warnings: readonly string[];
}

/**
 * Transcripts as fixtures, in the order in which they are named.
 * @throws ProtocolCliError `invalid-fixtures` where there is nothing in one that could be served.
 */
export async function readRecordings(files: readonly FixtureBytes[], speed = 1): Promise<Recordings> {
  if (files.length === 0) return { recordings: [], headers: [], warnings: [] };
  const [{ readTranscripts }, { fixturesOfTranscript }, { sideBySide }] = await Promise.all([
    import('../../exchange/transcript-reader.js'),
    import('../../fixtures/recorded/fixtures-of-transcript.js'),
    import('../../fixtures/recorded/together.js'),
  ]);
  const parts = files.flatMap(({ path, bytes }) =>
    partsOf(path, readTranscripts(withoutReadyLines(byteLines(bytes)))),
  );
  const read = await Promise.all(
    parts.map(async ({ path, transcript }) => {
      const { file, warnings } = await fixturesOfTranscript(transcript, { speed });
      const told = [...transcript.lost, ...warnings].map(warning => visibleLine(`${path}: ${warning}`));
      if (file.fixtures.length === 0) throw nothingServable(path, told);
      return { path, file, header: transcript.header, told };
    }),
  );
  const { recordings, warnings } = sideBySide(read);
  const headers = read.map(({ path, header }) => ({ path, header }));
  return {
    recordings,
    headers,
    warnings: [...read.flatMap(({ told }) => told), ...warnings.map(visibleLine)],
  };
}

/** Transcripts that were joined are served as if they were named one by one. */
function partsOf(path: string, transcripts: readonly Transcript[]) {
  const of = transcripts.length;
  return transcripts.map((transcript, index) => ({
    transcript,
    path: of === 1 ? path : `${path} (${index + 1} of ${of})`,
  }));
}

function nothingServable(path: string, faults: readonly string[]): ProtocolCliError {
  return new ProtocolCliError(
    'invalid-fixtures',
    `there is no call in ${visibleLine(path)} that could be served`,
    {
      faults,
      hint: 'A transcript of calls over RAP is what invoke --save, record --save or mock-tool -o ndjson writes.',
    },
  );
}
