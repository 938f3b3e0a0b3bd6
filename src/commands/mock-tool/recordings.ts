import { ProtocolCliError } from '../../errors.js';
import type { TranscriptHeader } from '../../exchange/transcript-format.js';
import { isWhole, missingFrom } from '../../exchange/transcript-losses.js';
import type { Transcript } from '../../exchange/transcript-reader.js';
import { isTranscript, withoutReadyLines } from '../../exchange/transcript-signs.js';
import type { NamedRecording } from '../../fixtures/recorded/together.js';
import { byteLines } from '../../text/byte-lines.js';
import { visibleLine } from '../../text/visible.js';
import type { FixtureBytes } from '../../tool/fixture-files.js';

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
export async function readRecordings(
  files: readonly FixtureBytes[],
  { speed = 1, isExact = false }: { readonly speed?: number | undefined; readonly isExact?: boolean } = {},
): Promise<Recordings> {
  if (files.length === 0) return { recordings: [], headers: [], warnings: [] };
  const [{ readTranscripts }, { fixturesOfTranscript }, { sideBySide }] = await Promise.all([
    import('../../exchange/transcript-reader.js'),
    import('../../fixtures/recorded/fixtures-of-transcript.js'),
    import('../../fixtures/recorded/together.js'),
  ]);
  const parts = files.flatMap(({ path, bytes }) =>
    partsOf(path, readTranscripts(withoutReadyLines(byteLines(bytes)))),
  );
  const readPart = async ({ name, path, transcript }: Part) => {
    const { file, warnings } = await fixturesOfTranscript(transcript, {
      speed,
      isExact,
      isWhole: isWhole(transcript),
    });
    const told = [...missingFrom(transcript), ...warnings, ...(file.fixtures.length > 0 ? [] : [NO_CALL])];
    const { header } = transcript;
    return { name, path, file, header, told: told.map(each => visibleLine(`${path}: ${each}`)) };
  };
  const all = await Promise.all(parts.map(readPart));
  for (const { path } of files)
    refuseUnservable(
      path,
      all.filter(each => each.name === path),
    );
  const read = all.filter(isServable);
  const { recordings, warnings } = sideBySide(read);
  const headers = read.map(({ path, header }) => ({ path, header }));
  return {
    recordings,
    headers,
    warnings: [...all.flatMap(({ told }) => told), ...warnings.map(visibleLine)],
  };
}

interface Part {
  /** Of the file. */
  readonly name: string;
  readonly path: string;
  readonly transcript: Transcript;
}

/** Transcripts that were joined are served as if they were named one by one. */
function partsOf(name: string, transcripts: readonly Transcript[]): readonly Part[] {
  const of = transcripts.length;
  return transcripts.map((transcript, index) => ({
    name,
    transcript,
    path: of === 1 ? name : `${name} (${index + 1} of ${of})`,
  }));
}

const NO_CALL = 'there is no call in it that could be served';

function isServable({ file }: NamedRecording): boolean {
  return file.fixtures.length > 0;
}

/** A part without a call, such as a check that reached nobody, hinders none of the others. */
function refuseUnservable(
  path: string,
  parts: readonly (NamedRecording & { readonly told: readonly string[] })[],
): void {
  if (parts.some(isServable)) return;
  throw nothingServable(
    path,
    parts.flatMap(({ told }) => told),
  );
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
