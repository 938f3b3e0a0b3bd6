import { type McpAnswer, readMcpAnswer } from '../../../exchange/mcp-answer.js';
import { panesOfMcp } from '../../../story/mcp-panes.js';
import { outcomeLines } from '../../../story/saved/answer-lines.js';
import { problemLines } from '../../../story/saved/problem-lines.js';
import { say } from '../../../story/spans.js';
import { isRecord } from '../../../text/is-record.js';
import { linesSection } from '../sheet.js';
import type { Kind, Saved } from './kind.js';
import { mcpKind } from './mcp.js';
import { movedInto } from './moved.js';

/** The response to `tools/call` as it is on the wire: a CallToolResult, or an error, in the envelope of JSON-RPC. */
export const jsonRpcKind: Kind = {
  name: 'a response of JSON-RPC to tools/call',
  dialect: 'mcp',
  keys: ['jsonrpc', 'id', 'result', 'error'],
  isMeant: value => 'jsonrpc' in value && ('result' in value || 'error' in value),
  async read({ value, notes }) {
    const { result, error } = isRecord(value) ? value : {};
    if (error !== undefined) return readError(error);
    const reading = await mcpKind.read({ ok: true, value: result, notes });
    if (reading.ok) return { ok: true, saved: movedInto(['result'], reading.saved) };
    return { ok: false, faults: reading.faults.map(fault => fault.replace(/^\$/, '$.result')) };
  },
};

function readError(error: unknown): ReturnType<Kind['read']> {
  const answer = readMcpAnswer({ ok: true, value: { error }, notes: [] });
  const faults = ['$.error: must have a code, which is a number, and a message'];
  return Promise.resolve(
    answer.outcome.basis === 'declared' ? { ok: true, saved: savedError(answer) } : { ok: false, faults },
  );
}

/** No answer of a tool; but what the model gets is one. */
function savedError(answer: McpAnswer): Saved {
  const { native, outcome, text, notes } = answer;
  const { human, llm } = panesOfMcp(answer);
  const warnings = notes.map(message => ({ message }));
  return {
    sections: () => [
      linesSection([[say('response of JSON-RPC', 'title')], ...outcomeLines(outcome)]),
      { kind: 'panes', human, llm },
      linesSection(problemLines(warnings)),
    ],
    report: () => ({ kind: 'JSON-RPC error', message: native, outcome, llm: { text }, warnings }),
    answers: () => [{ answer: { call: { id: null }, outcome } }],
    faults: [],
  };
}
