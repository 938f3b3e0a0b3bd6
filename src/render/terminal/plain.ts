/** Each of these is a cluster by itself, of one cell: what our own drawings and most languages are made of. Inside of a pattern's `[]`. */
export const NARROW =
  ' -~\u00A1-\u00AC\u00AE-\u02FF\u0384-\u0482\u048A-\u052F\u2010-\u2027\u2030-\u205E\u20A0-\u20C0\u2100-\u2319\u232B-\u23E8\u2400-\u2426\u2500-\u25FC\u2706-\u2709\u270E-\u2727\u2800-\u28FF';
/** The same of two cells. */
export const WIDE = '\u3001-\u3029\u3041-\u3096\u30A1-\u30FA\u4E00-\u9FFF\uAC00-\uD7A3\uFF01-\uFF60';
