import { colourLevel } from '../../dress/colour-level.js';
import { dressLine } from '../../dress/dress.js';
import { createTheme } from '../../dress/theme.js';
import type { Warning } from '../../protocol/requirements.js';
import type { Trouble } from '../../reporters/reporter.js';
import { errorReport, troubleText, warningText } from '../../reporters/trouble.js';
import { noticeLine } from '../../story/notice-lines.js';
import { writeOut } from '../../system/output.js';
import { safeJson } from '../../text/json-safe.js';
import { createRedactor } from '../../text/redact.js';
import { redactJson } from '../../text/redact-json.js';
import { type ExitStatus, statusOfFailure } from '../exit-status.js';
import { readHeaders, secretsOf } from '../headers.js';
import type { Terminal } from '../terminal.js';
import type { NoticeOptions } from './options.js';
import { reportOf, type SentNotice, toldOf, troubleOf, warningsOf } from './sent-notice.js';

/** How notices are told: each as soon as it is answered, or all of them as one object. */
export interface NoticeTelling {
  sent(notice: SentNotice): Promise<void>;
  warn(warning: Warning): void;
  /** Nothing more comes; `trouble` is what else went wrong. */
  end(trouble?: Trouble): Promise<ExitStatus>;
}

export function noticeTelling(options: NoticeOptions, terminal: Terminal): NoticeTelling {
  const { stdout } = terminal;
  const redactor = createRedactor(secretsOf(readHeaders(options, terminal.env))); // a refusal may repeat what it was sent
  const stderr = { write: (text: string) => terminal.stderr.write(redactor.text(text)) };
  const all: SentNotice[] = [];
  const warnings: Warning[] = [];
  const isJson = options.output === 'json';
  const theme = createTheme(
    colourLevel({ env: terminal.env, isTTY: stdout.isTTY === true, noColor: !options.color }),
  );
  const warn = (warning: Warning) => {
    warnings.push(warning);
    stderr.write(warningText(warning));
  };
  return {
    warn,
    async sent(notice) {
      all.push(notice);
      if (!isJson) await writeOut(stdout, redactor.text(`${dressLine(noticeLine(toldOf(notice)), theme)}\n`));
      for (const warning of warningsOf(notice)) warn(warning);
    },
    async end(trouble = troubleOf(all) ?? undefined) {
      const error = trouble && { error: errorReport(trouble) };
      const report = { notices: all.map(reportOf), warnings, ...error };
      if (isJson) await writeOut(stdout, `${redactJson(safeJson(report, 2), redactor)}\n`);
      if (trouble) stderr.write(troubleText(trouble));
      return trouble ? statusOfFailure(trouble.code) : 0;
    },
  };
}
