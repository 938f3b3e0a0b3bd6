import type { Event } from '../../exchange/events.js';
import { checkTranscript } from '../../rules/check-transcript.js';
import { cleanWords, type Redactor } from '../../text/redact.js';
import type { Line } from '../line.js';
import { judgedRun, runLines } from './run-lines.js';

/**
 * What a runtime did wrong with a call, as its tool saw it, by the requirements of runtimes: what the tool itself does it may do on
 * purpose. Failures first, each with its proof, and how many they are. Secrets out.
 * @param events of the call, and how its operation was discovered
 * @param warnings of the tool, foreign words in them
 */
export async function judgedRuntimeLines(
  events: readonly Event[],
  warnings: readonly string[],
  redactor: Redactor,
): Promise<{ readonly lines: readonly Line[]; readonly broken: number }> {
  const { checks } = await checkTranscript(events, { sides: ['runtime'], observer: 'tool' });
  const run = judgedRun(checks, ['runtime'], redactor);
  const around = { record: { events, redactor }, warnings: warnings.map(text => cleanWords(redactor, text)) };
  const broken = run.checks.filter(({ status }) => status === 'fail').length;
  return { lines: runLines(run, around), broken };
}
