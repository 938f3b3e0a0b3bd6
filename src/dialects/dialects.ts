import type { Answer, Dialect, DialectName, Reading, SoundReading, Writing } from './dialect.js';
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

export function dialectOf(name: DialectName): Dialect {
  return BY_NAME[name];
}

/**
 * Reads one answer of a tool. Never throws: a message that cannot be read has faults, each with its JSON path.
 * @param native JSON, as it came
 */
export function readAs(dialect: DialectName, native: unknown): Reading {
  return dialectOf(dialect).read(native);
}

/** Writes an answer, with warnings about what the format does not support. Never throws. */
export function writeAs(dialect: DialectName, answer: Answer): Writing {
  return dialectOf(dialect).write(answer);
}

/** A reading, or an answer that came in no format. */
export type Translatable = Pick<SoundReading, 'answer'> & Partial<Pick<SoundReading, 'dialect' | 'native'>>;

/** Writes what was read in another format; in its own format it is the native message. */
export function translate({ dialect, native, answer }: Translatable, to: DialectName): Writing {
  return dialect === to ? { body: native, warnings: [] } : writeAs(to, answer);
}
