import { crc32 } from 'node:zlib';
import * as z from 'zod/mini';
import { factSchema } from '../../exchange/facts.js';

/** The format's name and version. In this one each line ends with its checksum. */
export const JOURNAL_FORMAT = 'protocol-cli-journal/2';
/** The version without checksums. It can be read; opening it rewrites it. Any other format is refused. */
export const UNCHECKED_FORMAT = 'protocol-cli-journal/1';

const bodyRefSchema = z.object({ sha256: z.string(), size: z.int().check(z.nonnegative()) });

const frames = [
  z.object({
    kind: z.literal('header'),
    format: z.enum([JOURNAL_FORMAT, UNCHECKED_FORMAT]),
    /** RFC 3339, UTC. */
    startedAt: z.string(),
    program: z.string(),
  }),
  /** Bytes, just before the event that carries them for the first time. */
  z.object({
    kind: z.literal('body'),
    sha256: z.string(),
    encoding: z.enum(['utf8', 'base64']),
    data: z.string(),
  }),
  /** A call of an earlier run that is over. */
  z.object({ kind: z.literal('settled'), groupId: z.string(), id: z.string(), sha256: z.string() }),
  /** Counts and states begin anew: those of one key, or all of them and the calls that are over. */
  z.object({ kind: z.literal('reset'), key: z.optional(z.string()) }),
  /** What is above is what earlier runs left; a run begins. */
  z.object({ kind: z.literal('begun') }),
] as const;

/**
 * One line of a journal (NDJSON): a frame or an event. Nothing is redacted: it holds callback URLs and tokens, since they are needed to
 * go on after a crash, and is its owner's alone (threats, rows 25 and 26).
 */
export const journalLineSchema = z.discriminatedUnion('kind', [...frames, factSchema(bodyRefSchema)]);

export type JournalLine = z.infer<typeof journalLineSchema>;

/** The last member of a line, with the brace that closes it. The checksum is of the bytes before the comma. */
const CHECKSUM = /,"crc32":"([\da-f]{8})"\}$/;
const CHECKSUM_BYTES = ',"crc32":"00000000"}'.length;

/** A line of a journal, with its checksum and a line feed. */
export function checkedLine(content: JournalLine): string {
  const start = JSON.stringify(content).slice(0, -1);
  return `${start},"crc32":"${checksum(start)}"}\n`;
}

/** Whether a line ends with a checksum, and that is right. */
export function isIntact(line: Uint8Array): boolean {
  const end = line.length - CHECKSUM_BYTES;
  const [, written] = CHECKSUM.exec(Buffer.from(line.subarray(Math.max(0, end))).toString('latin1')) ?? [];
  return end > 0 && written === checksum(line.subarray(0, end));
}

function checksum(data: string | Uint8Array): string {
  return crc32(data).toString(16).padStart(8, '0');
}
