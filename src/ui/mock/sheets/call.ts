import type { ToolCall } from '../../../exchange/tool-call.js';
import type { Line } from '../../../story/line.js';
import { say } from '../../../story/spans.js';
import { detailLines } from '../../../story/tool-calls/index.js';
import { Memo } from '../../../text/memo.js';
import type { Sheet } from '../../calls/sheets/sheet.js';
import { linesDocument } from '../../document/index.js';

/** What came, who answers it, and each callback with what became of it. */
export function callTab(): (call: ToolCall) => Sheet {
  const sheets = new Memo<Sheet>();
  return call =>
    sheets.of([call], () => ({
      parts: [{ title: TITLE, document: linesDocument(detailLines(call)), pane: null }],
    }));
}

const TITLE: Line = [say('CALL', 'title'), say(' what came, and what was answered', 'dim')];
