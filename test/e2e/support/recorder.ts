import { readFile } from 'node:fs/promises';
import * as z from 'zod';
import { readTranscript, type Transcript } from '../../../src/events/transcript-reader.js';
import type { RunOptions } from './program.js';
import { type Server, type ServerHere, startServer, startServerHere } from './server.js';

const readySchema = z.strictObject({ port: z.int(), url: z.string() });

/** A built `record` that runs, piped, and said in its ready line where it is reached. */
export interface RunningRecorder extends Server, z.infer<typeof readySchema> {}

/** Starts `record` with these arguments. @throws Error with what it said, where it does not come up. */
export function startRecorder(args: readonly string[], options?: RunOptions): Promise<RunningRecorder> {
  return startServer(['record', ...args], readySchema, options);
}

/** The same in this process. */
export function startRecorderHere(
  args: readonly string[],
  options?: RunOptions,
): Promise<ServerHere & z.infer<typeof readySchema>> {
  return startServerHere(['record', ...args], readySchema, options);
}

/** What a file holds that a recorder wrote. */
export async function transcriptIn(path: string): Promise<Transcript> {
  return readTranscript((await readFile(path, 'utf8')).split('\n'));
}
