import { readAs, writeAs } from '../../dialects/index.js';
import { answerOfLocal } from '../local/answer-of-local.js';
import type { SpokenReply } from '../local/local-call.js';
import { readAsRap, wireOfResult } from '../local/result-wire.js';
import type { Wire, Written } from '../local/wire.js';

/** Of JSON-RPC: what MCP answers to the name of a tool that it does not have. */
const INVALID_PARAMS = -32_602;

type Fields = Readonly<Record<string, unknown>>;

/** @param url where calls come in, for those who are told */
export function mcpWire(url: string): Wire {
  return {
    dialect: 'mcp',
    url,
    callMethod: 'tools/call',
    cancelMethod: 'notifications/cancelled',
    dropsCancelled: true,
    write,
  };
}

/** As a CallToolResult, in which `isError` always is (seed 003); of an unknown tool as `{ error }` of JSON-RPC, as MCP asks. */
function write(reply: SpokenReply, isOffered: () => boolean): Written {
  if (reply.kind === 'payload') return written(textResult(reply.text));
  if (reply.kind === 'verbatim') return writeResult(reply.result);
  const { outcome } = reply;
  if (outcome.type === 'error' && !isOffered())
    return written({ error: { code: INVALID_PARAMS, message: outcome.message } });
  return writeOther(reply);
}

/** What is written for MCP goes out as it is, sound or not. */
function writeResult(result: Fields): Written {
  if (wireOfResult(result) === 'rap') return writeForeign(result);
  const reading = readAs('mcp', { isError: false, ...result });
  const warnings = reading.ok ? [] : [`a result went out that is none of MCP: ${reading.faults.join('; ')}`];
  return { body: { ...result, isError: result['isError'] ?? false }, warnings };
}

/** A `tool_result` of RAP; and what is no result of anything is its own payload. */
function writeForeign(result: Fields): Written {
  if (readAsRap(result).ok) return writeOther({ kind: 'verbatim', result });
  const warning = 'a result has neither content, as in MCP, nor text, as in RAP: it went out as a text';
  return { body: textResult(JSON.stringify(result)), warnings: [warning] };
}

function writeOther(reply: SpokenReply): Written {
  const { body, losses } = writeAs('mcp', answerOfLocal({ id: null }, reply));
  return { body, warnings: losses.map(({ message }) => message) };
}

function textResult(text: string): object {
  return { content: [{ type: 'text', text }], isError: false };
}

function written(body: object): Written {
  return { body, warnings: [] };
}
