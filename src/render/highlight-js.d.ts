/** Replaces the types of highlight.js, which would add browser globals to the whole program. */
export type LanguageFn = (...grammar: never) => unknown;
