import fc from 'fast-check';

/** Any code point, lone surrogates too; those that act on a terminal or in markup come often. (`unit: 'binary'` takes a second to set up.) */
export const anyCharacter = fc.oneof(
  fc.integer({ min: 0, max: 0x10_ff_ff }).map(code => String.fromCodePoint(code)),
  fc.integer({ min: 0, max: 0xff }).map(code => String.fromCodePoint(code)),
  fc.constantFrom('\u200b', '\u202e', '\u2066', '\ud800', '<', '>', '&', '"', "'", '\n', '\t'),
);

/** Any code point that text may have: what `unit: 'binary'` means, without that second. */
export const anyCodePoint = fc
  .integer({ min: 0, max: 0x10_ff_ff - 0x8_00 })
  .map(code => String.fromCodePoint(code < 0xd8_00 ? code : code + 0x8_00));
