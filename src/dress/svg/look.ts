/** How a piece of a row looks. Colours are numbers of the 256, the default one null. */
export interface Look {
  readonly foreground: number | null;
  readonly background: number | null;
  readonly bold: boolean;
  readonly dim: boolean;
  readonly italic: boolean;
  readonly underline: boolean;
  readonly inverse: boolean;
}

export const PLAIN: Look = {
  foreground: null,
  background: null,
  bold: false,
  dim: false,
  italic: false,
  underline: false,
  inverse: false,
};

/** What our own themes write: chalk's codes, up to 256 colours. */
const CHANGES: Readonly<Record<number, Partial<Look>>> = {
  0: PLAIN,
  1: { bold: true },
  2: { dim: true },
  3: { italic: true },
  4: { underline: true },
  7: { inverse: true },
  22: { bold: false, dim: false },
  23: { italic: false },
  24: { underline: false },
  27: { inverse: false },
  39: { foreground: null },
  49: { background: null },
};

/** The look after a sequence of SGR parameters; one that is not known changes nothing. */
export function withCodes(look: Look, codes: readonly number[]): Look {
  const [code = 0, mode, colour, ...rest] = codes;
  if (mode === 5 && colour !== undefined && (code === 38 || code === 48))
    return withRest({ ...look, [code === 38 ? 'foreground' : 'background']: colour }, rest);
  return withRest({ ...look, ...(CHANGES[code] ?? sixteen(code)) }, codes.slice(1));
}

function withRest(look: Look, codes: readonly number[]): Look {
  return codes.length === 0 ? look : withCodes(look, codes);
}

function sixteen(code: number): Partial<Look> {
  const number = (code % 10) + (code >= 90 ? 8 : 0);
  if (number % 8 !== code % 10) return {};
  const tens = code >= 90 ? code - 60 : code;
  if (tens >= 30 && tens < 38) return { foreground: number };
  return tens >= 40 && tens < 48 ? { background: number } : {};
}
