/** Languages by the endings and the names of their files; those that `lowlight` calls common. */
export const LANGUAGES: Readonly<Record<string, string>> = {
  arduino: 'ino',
  bash: 'bash sh zsh ksh bashrc zshrc profile',
  c: 'c h',
  cpp: 'cpp cc cxx c++ hpp hh hxx h++',
  csharp: 'cs',
  css: 'css',
  go: 'go',
  graphql: 'graphql gql',
  ini: 'ini toml cfg conf editorconfig gitconfig',
  java: 'java',
  javascript: 'js jsx mjs cjs',
  json: 'json jsonc json5 webmanifest',
  kotlin: 'kt kts',
  less: 'less',
  lua: 'lua',
  makefile: 'mk mak makefile gnumakefile',
  markdown: 'md markdown mkd',
  objectivec: 'm mm',
  perl: 'pl pm',
  php: 'php',
  python: 'py pyi pyw gyp',
  r: 'r',
  ruby: 'rb rake gemspec gemfile rakefile podspec',
  rust: 'rs',
  scss: 'scss',
  sql: 'sql',
  swift: 'swift',
  typescript: 'ts tsx mts cts',
  vbnet: 'vb',
  wasm: 'wat wast',
  xml: 'xml html htm xhtml svg rss atom xsl xsd plist vue svelte',
  yaml: 'yaml yml',
};

const BY_ENDING: ReadonlyMap<string, string> = new Map(
  Object.entries(LANGUAGES).flatMap(([language, endings]) =>
    endings.split(' ').map((ending): [string, string] => [ending, language]),
  ),
);

/** The language of a file, by its name alone; undefined where that says nothing. */
export function languageOf(path: string): string | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase();
  return BY_ENDING.get(name.slice(name.lastIndexOf('.') + 1));
}
