import * as z from 'zod/mini';
import { factSchema } from '../../exchange/facts.js';

/** The format's name and version; a journal of another is refused. */
export const JOURNAL_FORMAT = 'protocol-cli-journal/1';

const bodyRefSchema = z.object({ sha256: z.string(), size: z.int().check(z.nonnegative()) });

const frames = [
  z.object({
    kind: z.literal('header'),
    format: z.literal(JOURNAL_FORMAT),
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
