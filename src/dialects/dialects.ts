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

export const DIALECTS: readonly Dialect[] = Object.values(BY_NAME);

/**
 * Parses one answer of a tool. Never throws: an invalid message has faults, each with its JSON path.
 * @param native the message as JSON
 */
export function readAs(dialect: DialectName, native: unknown): Reading {
  return BY_NAME[dialect].read(native);
}

/** Writes an answer, with warnings about what the format does not support. Never throws. */
export function writeAs(dialect: DialectName, answer: Answer): Writing {
  return BY_NAME[dialect].write(answer);
}

/** A reading, or an answer that was not read from a message. */
export type Translatable = Pick<ValidReading, 'answer'> & Partial<Pick<ValidReading, 'dialect' | 'native'>>;

/** Converts a reading to another format. In its own format it is the native message. */
export function translate({ dialect, native, answer }: Translatable, to: DialectName): Writing {
  return dialect === to ? { body: native, warnings: [] } : writeAs(to, answer);
}
