import { Writable } from 'node:stream';
import type { Event } from '../../src/events/events.js';
import { History } from '../../src/events/history.js';
import { type Ending, Page, type Reporter } from '../../src/render/outputs/reporter.js';
import type { Trouble } from '../../src/render/outputs/trouble.js';
import { createRedactor } from '../../src/util/redact.js';

class Sheet extends Writable {
  text = '';
  readonly columns = 80;
  constructor(readonly isTTY = false) {
    super();
  }
  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

interface Options {
  readonly quiet?: boolean;
  readonly trouble?: Trouble | null;
  readonly secrets?: readonly string[];
  readonly isTTY?: boolean;
}

/** A page, and what was printed on it. */
export function pageOf(history: History, { quiet = false, secrets = [], isTTY = false }: Options = {}) {
  const [stdout, stderr] = [new Sheet(isTTY), new Sheet()];
  const page = new Page(history, { stdout, stderr, quiet, redactor: createRedactor(secrets), level: 0 });
  return { page, printed: () => ({ stdout: stdout.text, stderr: stderr.text }) };
}

/** Lets a reporter live through events, as they happened, to the end of a command. */
export async function report(
  make: (page: Page) => Reporter,
  events: readonly Event[],
  options: Options = {},
) {
  const history = new History();
  const { page, printed } = pageOf(history, options);
  const reporter = make(page);
  for (const event of events) {
    history.apply(event);
    reporter.event?.(event);
  }
  const { trouble = null } = options;
  const ending: Ending = { history, exchange: history.first, notes: [], trouble };
  await reporter.settled?.(ending);
  await reporter.end(ending);
  return printed();
}
