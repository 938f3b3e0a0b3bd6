import { Writable } from 'node:stream';
import type { Event } from '../../src/events/events.js';
import { History } from '../../src/events/history.js';
import type { Ending, Paper, Reporter } from '../../src/render/outputs/reporter.js';
import type { Trouble } from '../../src/render/outputs/trouble.js';

class Sheet extends Writable {
  text = '';
  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

export interface Told {
  readonly stdout: string;
  readonly stderr: string;
}

/** Lets a reporter live through events, as they happened, to the end of a command. */
export async function report(
  make: (history: History, paper: Paper) => Reporter,
  events: readonly Event[],
  { quiet = false, trouble = null }: { quiet?: boolean; trouble?: Trouble | null } = {},
): Promise<Told> {
  const history = new History();
  const [stdout, stderr] = [new Sheet(), new Sheet()];
  const reporter = make(history, { stdout, stderr, quiet });
  for (const event of events) {
    history.apply(event);
    reporter.event?.(event);
  }
  const ending: Ending = { history, exchange: history.first, notes: [], trouble };
  await reporter.settled?.(ending);
  await reporter.end(ending);
  return { stdout: stdout.text, stderr: stderr.text };
}
