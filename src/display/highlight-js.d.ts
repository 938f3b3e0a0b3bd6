/** In the place of the types of highlight.js: those would bring a browser's names into the whole program. */
export type LanguageFn = (...grammar: never) => unknown;
