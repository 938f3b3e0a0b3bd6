import type { Answer, Dialect, DialectName, Reading, ValidReading, Writing } from './dialect.js';
import { lmkitDialect } from './lmkit.js';
import { mcpDialect } from './mcp.js';
import { rapDialect } from './rap.js';
import { sessionDialect } from './session.js';

const BY_NAME = {
  rap: rapDialect,
  session: sessionDialect,
  lmkit: lmkitDialect,
  mcp: mcpDialect,
} satisfies Record<DialectName, Dialect>;

/**
 * The four formats of a tool's answer.
 * @example
 * const readable = DIALECTS.filter(dialect => dialect.read({ type: 'tool_result' }).ok).map(({ name }) => name);
 */
export const DIALECTS: readonly Dialect[] = Object.values(BY_NAME);

/**
 * Parses one answer of a tool. Never throws: an invalid message has faults, each with its JSON path.
 * @param native the message as JSON
 * @example
 * const reading = readAs('mcp', { content: [{ type: 'text', text: 'done' }] });
 * if (reading.ok) console.log(reading.answer.outcome.type, reading.text); // success done
 */
export function readAs(dialect: DialectName, native: unknown): Reading {
  return BY_NAME[dialect].read(native);
}

/**
 * Writes an answer, with warnings about what the format does not support. Never throws.
 * @example
 * const call = { id: 'call_1', tool: 'echo' };
 * const { body, warnings } = writeAs('session', { call, outcome: { type: 'success', basis: 'declared' }, payload: 'hi' });
 */
export function writeAs(dialect: DialectName, answer: Answer): Writing {
  return BY_NAME[dialect].write(answer);
}

/** A reading, or an answer that was not read from a message. */
export type Translatable = Pick<ValidReading, 'answer'> & Partial<Pick<ValidReading, 'dialect' | 'native'>>;

/**
 * Converts a reading to another format. In its own format it is the native message.
 * @example
 * const reading = readAs('rap', { type: 'tool_result', group_id: 'thread', id: 'call', text: 'done' });
 * if (reading.ok) console.log(translate(reading, 'mcp').body);
 */
export function translate({ dialect, native, answer }: Translatable, to: DialectName): Writing {
  return dialect === to ? { body: native, warnings: [] } : writeAs(to, answer);
}
