import { common, createLowlight } from 'lowlight';

/** What a piece of code is in its language. */
export type Role = 'keyword' | 'string' | 'number' | 'comment' | 'type' | 'function' | 'name';

export interface Token {
  readonly text: string;
  /** Null where it is nothing special. */
  readonly role: Role | null;
}

/** Reads a text in one language; the tokens make up the text. @throws where its grammar breaks. */
export type Lexer = (text: string) => readonly Token[];

type Tree = ReturnType<ReturnType<typeof createLowlight>['highlight']>;
type Node = Tree['children'][number];

const lowlight = createLowlight(common);

/** What the classes of highlight.js mean here. */
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

/** Reads one of the common languages. */
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

/** The most telling class is the last: `title class_`. */
function roleOf(classes: unknown): Role | undefined {
  if (!Array.isArray(classes)) return undefined;
  return classes.map(name => ROLES[String(name)]).findLast(role => role !== undefined);
}
