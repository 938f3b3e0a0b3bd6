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

type Tree = ReturnType<ReturnType<typeof createLowlight>['highlight']>;
type Node = Tree['children'][number];

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

/** The lexer for one of the common languages. */
export function lexerOf(language: string): Lexer {
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
