import type { Answer, Dialect, DialectName, Reading, SoundReading, Writing } from './dialect.js';
import { lmkitDialect } from './lmkit.js';
import { mcpDialect } from './mcp.js';
import { rapDialect } from './rap.js';
import { sessionDialect } from './session.js';

const BY_NAME: Readonly<Record<DialectName, Dialect>> = {
  rap: rapDialect,
  session: sessionDialect,
  lmkit: lmkitDialect,
  mcp: mcpDialect,
};

/** Every wire that is known here. A new one is a file beside these, its name in `DIALECT_NAMES`, and its line above. */
export const DIALECTS: readonly Dialect[] = Object.values(BY_NAME);

export function dialectOf(name: DialectName): Dialect {
  return BY_NAME[name];
}

/**
 * Reads one answer of a tool off a wire. Never throws: what cannot be read has faults, each with its JSON path.
 * @param native JSON, as it came
 */
export function readAs(dialect: DialectName, native: unknown): Reading {
  return dialectOf(dialect).read(native);
}

/** Writes an answer for a wire, and says what that cannot carry. Never throws. */
export function writeAs(dialect: DialectName, answer: Answer): Writing {
  return dialectOf(dialect).write(answer);
}

/** What `translate` takes: a reading, or an answer that came on no wire. */
export type Translatable = Pick<SoundReading, 'answer'> & Partial<Pick<SoundReading, 'dialect' | 'native'>>;

/** What was read on one wire, for another one; for its own it is the native message itself, to which nothing was lost. */
export function translate({ dialect, native, answer }: Translatable, to: DialectName): Writing {
  return dialect === to ? { body: native, losses: [] } : writeAs(to, answer);
}
