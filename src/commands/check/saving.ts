import type { Log } from '../../exchange/log.js';
import { PROGRAM } from '../program.js';
import { saveTranscript } from '../save-transcript.js';
import type { Desk } from './desk.js';
import type { Witness } from './witness.js';

/** Writes down what happens, where that is wanted. Returns how to end it, with the reason. */
export function savingTo(log: Log, redactor: Witness['redactor'], { plan, making, terminal }: Desk) {
  const { save } = plan.flags;
  if (save === undefined) return async () => {};
  const about = {
    startedAt: making.clock.wall().toISOString(),
    observer: 'runtime',
    program: PROGRAM,
  } as const;
  return saveTranscript(log, save, redactor, about, terminal);
}
