import type { DialectName } from '../../dialects/dialect.js';
import { colourLevel } from '../../dress/colour-level.js';
import type { History } from '../../exchange/history.js';
import { type TranscriptAbout, transcriptWriter } from '../../exchange/transcript-writer.js';
import type { Paper, Reporter } from '../../reporters/reporter.js';
import { textReporter } from '../../reporters/text.js';
import type { Clock } from '../../system/clock.js';
import { createRedactor, type Redactor } from '../../text/redact.js';
import { readHeaders, secretsOf } from '../headers.js';
import type { Output, Terminal } from '../terminal.js';
import type { InvokeOptions } from './plan.js';

/** What reporters tell from, and where. */
interface Desk {
  readonly options: InvokeOptions;
  readonly terminal: Terminal;
  readonly paper: Paper;
  readonly history: History;
  readonly redactor: Redactor;
  readonly about: TranscriptAbout;
  readonly clock: Clock;
}

/** Each output is loaded only when it is asked for: a pipe must not wait for a live view's libraries. */
export async function reporterFor(output: Output, desk: Desk): Promise<Reporter> {
  return desk.options.repeat === undefined ? FOR_ONE[output](desk) : FOR_MANY[output](desk);
}

type Making = (desk: Desk) => Reporter | Promise<Reporter>;

const ndjson: Making = async ({ history, paper, redactor, about }) => {
  const { ndjsonReporter } = await import('../../reporters/ndjson.js');
  return ndjsonReporter(history, paper, transcriptWriter(redactor), about);
};

async function inDialect(
  dialect: DialectName,
  { history, paper, redactor }: Pick<Desk, 'history' | 'paper' | 'redactor'>,
): Promise<Reporter> {
  const { dialectReporter } = await import('../../reporters/dialect.js');
  return dialectReporter(history, paper, redactor, dialect);
}

const FOR_ONE: Readonly<Record<Output, Making>> = {
  text: ({ history, paper, terminal, options }) =>
    textReporter(history, paper, {
      isTTY: terminal.stdout.isTTY === true,
      follows: options.follow === true,
    }),
  json: async ({ history, paper, redactor, options }) => {
    if (options.dialect !== undefined) return inDialect(options.dialect, { history, paper, redactor });
    const { jsonReporter } = await import('../../reporters/json.js');
    return jsonReporter(history, paper, redactor, options.supports);
  },
  ndjson,
  plain: async desk => {
    const { plainReporter } = await import('../../reporters/plain.js');
    const isTTY = desk.terminal.stdout.isTTY === true;
    const { history, paper, options, redactor } = desk;
    return plainReporter(history, paper, options.supports, { level: levelFor(desk), isTTY, redactor });
  },
  ui: async desk => {
    const { liveReporter } = await import('../../ui/live/reporter.js');
    const { history, paper, clock, options, terminal } = desk;
    const { stdin, stdout, interrupt } = terminal;
    const { supports, timeout: timeoutMs } = options;
    // Credentials only: the URL that a person has to visit stays whole.
    const redact = createRedactor(secretsOf(readHeaders(options, terminal.env))).text;
    const to = { paper, stdin, stdout, level: levelFor(desk), redact };
    return liveReporter({ ...to, history, clock, timeoutMs, supports, interrupt });
  },
};

const manyInLines: Making = async desk => {
  const { plainRepeats } = await import('../../reporters/repeats/index.js');
  return plainRepeats(desk.history, desk.paper, { level: levelFor(desk), redactor: desk.redactor });
};

/** Of many calls there is no one text and no one view: `outputFor` has refused those. */
const FOR_MANY: Readonly<Record<Output, Making>> = {
  text: manyInLines,
  json: async ({ history, paper, redactor, options }) => {
    const { jsonRepeats } = await import('../../reporters/repeats/index.js');
    return jsonRepeats(history, paper, redactor, options.supports);
  },
  ndjson,
  plain: manyInLines,
  ui: manyInLines,
};

function levelFor({ options, terminal }: Desk) {
  const { stdout, env } = terminal;
  return colourLevel({ env, isTTY: stdout.isTTY === true, noColor: !options.color });
}
