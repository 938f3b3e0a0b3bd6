import * as z from 'zod/mini';
import { factSchema } from './facts.js';

/** The format's name and version; a reader refuses what it does not know. */
export const TRANSCRIPT_FORMAT = 'protocol-cli-transcript/1';

/** Stands for bytes that a `body` line carries. */
const bodyRefSchema = z.object({ sha256: z.string(), size: z.int().check(z.nonnegative()) });

const frames = [
  z.object({
    kind: z.literal('header'),
    format: z.literal(TRANSCRIPT_FORMAT),
    /** RFC 3339, UTC. */
    startedAt: z.string(),
    /** Whose eyes these are. */
    observer: z.enum(['runtime', 'tool', 'recorder', 'platform', 'client']),
    program: z.string(),
    redaction: z.string(),
  }),
  /** Bytes, once, before the first event that refers to them. `sha256` is that of the bytes written here. */
  z.object({
    kind: z.literal('body'),
    sha256: z.string(),
    encoding: z.enum(['utf8', 'base64']),
    data: z.string(),
  }),
  /** `seq` follows the last event's, so that what was lost right before it is missed. */
  z.object({ kind: z.literal('end'), seq: z.optional(z.int().check(z.nonnegative())), reason: z.string() }),
] as const;

/** One line of a transcript (NDJSON): a frame or an event. */
export const transcriptLineSchema = z.discriminatedUnion('kind', [...frames, factSchema(bodyRefSchema)]);

export type TranscriptLine = z.infer<typeof transcriptLineSchema>;
export type TranscriptHeader = Extract<TranscriptLine, { kind: 'header' }>;
