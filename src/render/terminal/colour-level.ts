/** No colours, 16 (ANSI), 256, or 16 million. */
export type ColourLevel = 0 | 1 | 2 | 3;

export interface ColourSigns {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly isTTY: boolean;
  readonly noColor: boolean;
  /** Colour depth in bits, from `tty.WriteStream#getColorDepth`; without it, `TERM` and `COLORTERM` decide. */
  readonly depth?: number;
}

const LEVELS = { 1: 1, 2: 2, 3: 3 } as const;

/** The number of colours to use. The user's settings override those of the terminal. */
export function colourLevel(signs: ColourSigns): ColourLevel {
  if (signs.noColor || signs.env.NO_COLOR) return 0;
  return forced(signs) ?? detected(signs);
}

function forced(signs: ColourSigns): ColourLevel | undefined {
  const wish = signs.env.FORCE_COLOR;
  if (wish === undefined) return undefined;
  if (wish === '0' || wish === 'false') return 0;
  if (wish === '1' || wish === '2' || wish === '3') return LEVELS[wish];
  return ability(signs);
}

function detected(signs: ColourSigns): ColourLevel {
  const colourless = !signs.isTTY || signs.env.TERM === 'dumb' || signs.depth === 1;
  return colourless ? 0 : ability(signs);
}

function ability({ env, depth }: ColourSigns): Exclude<ColourLevel, 0> {
  if (depth !== undefined) return depth >= 24 ? 3 : depth >= 8 ? 2 : 1;
  if (env.COLORTERM === 'truecolor' || env.COLORTERM === '24bit') return 3;
  return /-256(?:color)?$/.test(env.TERM ?? '') ? 2 : 1;
}
