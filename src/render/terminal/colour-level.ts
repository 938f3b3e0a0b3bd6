/** No colours, 16 (ANSI), 256, or 16 million. */
export type ColourLevel = 0 | 1 | 2 | 3;

export interface ColourSigns {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly isTTY: boolean;
  readonly noColor: boolean;
  /** Colour depth in bits, from `tty.WriteStream#getColorDepth`; without it, `TERM` and `COLORTERM` decide. */
  readonly depth?: number;
}

const FORCED: ReadonlyMap<string | undefined, ColourLevel> = new Map([
  ['0', 0],
  ['false', 0],
  ['1', 1],
  ['2', 2],
  ['3', 3],
]);

/** The number of colours to use. The user's settings override those of the terminal. */
export function colourLevel(signs: ColourSigns): ColourLevel {
  const { env, isTTY, noColor, depth } = signs;
  if (noColor || env.NO_COLOR) return 0;
  const isForced = env.FORCE_COLOR !== undefined;
  if (!isForced && (!isTTY || env.TERM === 'dumb' || depth === 1)) return 0;
  return FORCED.get(env.FORCE_COLOR) ?? ability(signs);
}

function ability({ env, depth }: ColourSigns): Exclude<ColourLevel, 0> {
  if (depth !== undefined) return depth >= 24 ? 3 : depth >= 8 ? 2 : 1;
  if (env.COLORTERM === 'truecolor' || env.COLORTERM === '24bit') return 3;
  return /-256(?:color)?$/.test(env.TERM ?? '') ? 2 : 1;
}
