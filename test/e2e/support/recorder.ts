import { readFile } from 'node:fs/promises';
import * as z from 'zod';
import { readTranscript, type Transcript } from '../../../src/events/transcript-reader.js';
import { serverCommand } from './server.js';

const readySchema = z.strictObject({ port: z.int(), url: z.string() });

export const { start: startRecorder, startHere: startRecorderHere } = serverCommand(
  ['record'],
  readySchema,
  () => ({}),
);

/** What a file holds that a recorder wrote. */
export async function transcriptIn(path: string): Promise<Transcript> {
  return readTranscript((await readFile(path, 'utf8')).split('\n'));
}
