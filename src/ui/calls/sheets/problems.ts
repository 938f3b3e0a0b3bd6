import type { Line } from '../../../story/line.js';
import { quote, say } from '../../../story/spans.js';
import { Memo } from '../../../text/memo.js';
import { cleanWords, type Redactor } from '../../../text/redact.js';
import { linesDocument } from '../../document/index.js';
import type { Sheet, Tabbed } from './sheet.js';

/** A call that can be judged. */
export interface Judged {
  /** It is to be judged anew when this is another one. */
  readonly age: number;
  judge(): Promise<readonly Line[]>;
}

export interface ProblemsOptions {
  readonly redactor: Redactor;
  /** The sheet is another one now, though no event came. */
  readonly onChange: () => void;
}

/**
 * Which requirements were broken, with the proof. They are judged in the background, once at a time, and only while somebody looks:
 * until that is done, the sheet is as it was before.
 */
export function problemsTab(call: Judged, { redactor, onChange }: ProblemsOptions): Tabbed {
  const sheets = new Memo<Sheet>();
  let lines: readonly Line[] = [[say('judging …', 'running')]];
  let judgedAt = -1;
  let isJudging = false;
  const judge = async (): Promise<void> => {
    isJudging = true;
    judgedAt = call.age;
    lines = await judged(call, redactor);
    isJudging = false;
    onChange();
  };
  return () => {
    if (judgedAt !== call.age && !isJudging) void judge();
    return sheets.of([lines], () => ({
      parts: [{ title: TITLE, document: linesDocument(lines), pane: null }],
    }));
  };
}

const TITLE: Line = [say('PROBLEMS', 'title'), say(' by the requirements of the protocol', 'dim')];

/** A rule that fails says so, and takes nothing else with it. */
async function judged(call: Judged, redactor: Redactor): Promise<readonly Line[]> {
  try {
    return await call.judge();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return [[say('✗ ', 'bad'), say('it could not be judged: '), ...quote(cleanWords(redactor, why))]];
  }
}
