import { colourLevel } from '../../../dress/colour-level.js';
import { type TranscriptAbout, transcriptWriter } from '../../../exchange/transcript-writer.js';
import type { Paper } from '../../../reporters/reporter.js';
import type { KnownSession, SessionReporter } from '../../../reporters/session/reporter.js';
import type { Clock } from '../../../system/clock.js';
import type { Redactor } from '../../../text/redact.js';
import type { Terminal } from '../../terminal.js';
import type { AnswerOutput, AnswerPlan } from './plan.js';

/** What reporters tell from, and where. */
export interface Desk {
  readonly plan: AnswerPlan;
  readonly terminal: Terminal;
  readonly paper: Paper;
  readonly known: KnownSession;
  readonly redactor: Redactor;
  readonly about: TranscriptAbout;
  readonly clock: Clock;
}

/** Each output is loaded only when it is asked for. */
export async function reporterFor(desk: Desk): Promise<SessionReporter> {
  return REPORTERS[desk.plan.output](desk);
}

const REPORTERS: Readonly<Record<AnswerOutput, (desk: Desk) => Promise<SessionReporter>>> = {
  plain: async desk => {
    const { plainSession } = await import('../../../reporters/session/plain.js');
    const isTTY = desk.terminal.stdout.isTTY === true;
    return plainSession(desk.known, desk.paper, { level: levelFor(desk), isTTY, redactor: desk.redactor });
  },
  json: async ({ known, paper, redactor }) => {
    const { jsonSession } = await import('../../../reporters/session/json.js');
    return jsonSession(known, paper, redactor);
  },
  ndjson: async ({ known, paper, redactor, about }) => {
    const { ndjsonSession } = await import('../../../reporters/session/ndjson.js');
    return ndjsonSession(known, paper, transcriptWriter(redactor), about);
  },
  ui: async desk => {
    const { liveSession } = await import('../../../ui/session/answer/live.js');
    const { known, paper, clock, terminal, plan, redactor } = desk;
    const { id, url } = plan;
    const { stdin, stdout, interrupt } = terminal;
    const { supports } = plan.flags;
    return liveSession({
      known,
      session: { id, url },
      paper,
      stdin,
      stdout,
      clock,
      supports,
      redactor,
      level: levelFor(desk),
      interrupt,
    });
  },
};

function levelFor({ plan, terminal: { stdout, env } }: Desk) {
  return colourLevel({ env, isTTY: stdout.isTTY === true, noColor: !plan.flags.color });
}
