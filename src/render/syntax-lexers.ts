import { common, createLowlight } from 'lowlight';

/** The syntactic role of a token. */
export type Role = 'keyword' | 'string' | 'number' | 'comment' | 'type' | 'function' | 'name';

export interface Token {
  readonly text: string;
  /** Null for plain code. */
  readonly role: Role | null;
}

/** Splits a text into tokens without gaps. @throws if the grammar fails */
export type Lexer = (text: string) => readonly Token[];

/** A node of the tree that lowlight makes. */
type Node =
  | { readonly type: 'text'; readonly value: string }
  | {
      readonly type: 'element';
      readonly properties: Readonly<Record<string, unknown>>;
      readonly children: readonly Node[];
    }
  | { readonly type: 'comment' | 'doctype' };

const lowlight = createLowlight(common);

/** Maps the classes of highlight.js to roles. */
const ROLES: Readonly<Record<string, Role>> = {
  keyword: 'keyword',
  'selector-tag': 'keyword',
  literal: 'keyword',
  string: 'string',
  regexp: 'string',
  number: 'number',
  symbol: 'number',
  comment: 'comment',
  quote: 'comment',
  meta: 'comment',
  type: 'type',
  class_: 'type',
  built_in: 'type',
  title: 'function',
  section: 'function',
  name: 'keyword',
  attr: 'name',
  attribute: 'name',
  property: 'name',
  'selector-class': 'name',
  'selector-id': 'name',
  'template-variable': 'name',
};

/** Extensions and names of files, besides those that highlight.js knows. */
const MORE_ENDINGS: Readonly<Record<string, string>> = {
  bash: 'ksh bashrc zshrc profile',
  ini: 'cfg conf editorconfig gitconfig',
  json: 'webmanifest',
  makefile: 'gnumakefile',
  objectivec: 'm',
  python: 'pyi pyw',
  ruby: 'rake gemfile rakefile',
  wasm: 'wat wast',
  xml: 'htm vue svelte',
};

for (const [language, endings] of Object.entries(MORE_ENDINGS))
  lowlight.registerAlias(language, endings.split(' '));

/** The lexer for a file, by its name only; null if its language is unknown. */
export function lexerFor(path: string): Lexer | null {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase();
  const language = name.slice(name.lastIndexOf('.') + 1);
  if (!lowlight.registered(language)) return null;
  return text => [...tokensIn(lowlight.highlight(language, text, { prefix: '' }).children, null)];
}

function* tokensIn(nodes: readonly Node[], around: Role | null): Generator<Token> {
  for (const node of nodes) {
    if (node.type === 'text') yield { text: node.value, role: around };
    else if (node.type === 'element')
      yield* tokensIn(node.children, roleOf(node.properties['className']) ?? around);
  }
}

/** The last class is the most specific one: `title class_`. */
function roleOf(classes: unknown): Role | undefined {
  if (!Array.isArray(classes)) return undefined;
  return classes.map(name => ROLES[String(name)]).findLast(role => role !== undefined);
}
