import type { Log } from '../../exchange/log.js';
import { PROGRAM } from '../program.js';
import { saveTranscript } from '../save-transcript.js';
import type { Desk } from './desk.js';
import type { Witness } from './witness.js';

/** What is written down, where that is wanted: the line of each event, and how to end it, with the reason. */
export interface Saved extends Pick<Witness, 'file'> {
  readonly lines?: ReadonlyMap<number, number>;
  readonly finish: (reason: string) => Promise<void>;
}

/** Writes down what happens from now on. */
export async function savingTo(
  log: Log,
  redactor: Witness['redactor'],
  { plan, making, terminal: { stderr } }: Desk,
): Promise<Saved> {
  const { save } = plan.flags;
  if (save === undefined) return { finish: async () => {} };
  const about = {
    startedAt: making.clock.wall().toISOString(),
    observer: 'runtime',
    program: PROGRAM,
  } as const;
  const lines = new Map<number, number>();
  const onLine = (seq: number, line: number) => void lines.set(seq, line);
  return { file: save, lines, finish: await saveTranscript(log, save, redactor, about, { stderr, onLine }) };
}
