import type { Answer, AnsweredCall } from '../../dialects/dialect.js';
import { readAs } from '../../dialects/index.js';
import type { SpokenReply } from './local-call.js';
import { readAsRap, wireOfResult } from './result-wire.js';

/** How a call was answered in this process, in the one model's terms. @param call as its wire names it */
export function answerOfLocal(call: AnsweredCall, reply: SpokenReply): Answer {
  switch (reply.kind) {
    case 'payload':
      return { call, outcome: { type: 'success', basis: 'declared' }, payload: reply.payload };
    case 'outcome':
      return { call, outcome: { ...reply.outcome, basis: 'declared' } };
    case 'verbatim':
      return { ...answerOfResult(call, reply.result), call };
  }
}

/** What is written in no known form is a payload after all: nothing is lost. */
function answerOfResult(call: AnsweredCall, result: Readonly<Record<string, unknown>>): Omit<Answer, 'call'> {
  const reading = wireOfResult(result) === 'mcp' ? readAs('mcp', result) : readAsRap(result, call);
  if (reading.ok) return reading.answer;
  return { outcome: { type: 'success', basis: 'assumed' }, payload: result };
}
