import { visible, visibleLine } from '../../util/visible.js';

/** A test of a JUnit report; without `ending` it passed. */
export interface JunitTest {
  readonly classname: string;
  readonly name: string;
  /** `fixtures.yaml:12` is a file and a line; in `fixtures.json#3` only the file is used. */
  readonly place?: string;
  readonly seconds: number;
  readonly ending?: {
    readonly kind: 'failure' | 'error' | 'skipped';
    readonly type: string;
    readonly message: string;
    readonly text: string;
  };
  /** Shown for passed tests too. */
  readonly output?: string;
}

interface JunitSuite {
  readonly name: string;
  readonly seconds: number;
  readonly tests: readonly JunitTest[];
  readonly output?: string;
}

/** Rounds to microseconds. */
export function inSeconds(ms: number): number {
  return Math.round(ms * 1_000) / 1_000_000;
}

type Attributes = Readonly<Record<string, string | number>>;

/** JUnit XML; suites without tests are left out. Texts are untrusted. */
export function junitXml(name: string, seconds: number, suites: readonly JunitSuite[]): string {
  const shown = suites.filter(({ tests }) => tests.length > 0);
  const attributes = { name, ...countsOf(shown.flatMap(({ tests }) => tests)), time: seconds };
  return `<?xml version="1.0" encoding="UTF-8"?>\n${parent('', 'testsuites', attributes, shown.map(suiteXml))}`;
}

function suiteXml({ name, tests, seconds, output }: JunitSuite): string {
  const attributes = { name, ...countsOf(tests), time: seconds };
  return parent('  ', 'testsuite', attributes, [...tests.map(testXml), ...outputXml('    ', output)]);
}

function countsOf(tests: readonly JunitTest[]) {
  const count = (kind: string) => tests.filter(({ ending }) => ending?.kind === kind).length;
  return {
    tests: tests.length,
    failures: count('failure'),
    errors: count('error'),
    skipped: count('skipped'),
  };
}

function testXml({ classname, name, place = '', seconds, ending, output }: JunitTest): string {
  const attributes = { classname, name, ...placeOf(place), time: seconds };
  if (!ending) return parent('    ', 'testcase', attributes, outputXml('      ', output));
  const { kind, type, message, text } = ending;
  // A skipped test has only a message.
  const child =
    kind === 'skipped' ? leaf('      ', kind, { message }) : leaf('      ', kind, { type, message }, text);
  return parent('    ', 'testcase', attributes, [child]);
}

function outputXml(indent: string, output: string | undefined): string[] {
  return output === undefined ? [] : [leaf(indent, 'system-out', {}, output)];
}

/** The file and the line of a place, as XML attributes. */
export function placeOf(place: string): Record<string, string> {
  const [, file, line] = /^(.+?)(?::(\d+)(?::\d+)?|#\d+)$/.exec(place) ?? [];
  return { ...(file !== undefined && { file }), ...(line !== undefined && { line }) };
}

function parent(indent: string, name: string, attributes: Attributes, children: readonly string[]): string {
  if (children.length === 0) return leaf(indent, name, attributes);
  return `${indent}<${name}${written(attributes)}>\n${children.join('')}${indent}</${name}>\n`;
}

/** Escapes characters that XML 1.0 cannot hold: control characters and lone surrogates. */
function leaf(indent: string, name: string, attributes: Attributes, text = ''): string {
  const start = `${indent}<${name}${written(attributes)}`;
  return text === '' ? `${start}/>\n` : `${start}>${escaped(visible(text))}</${name}>\n`;
}

/** Escapes line feeds: XML parsers turn a line feed in an attribute into a space. */
function written(attributes: Attributes): string {
  const list = Object.entries(attributes).map(
    ([key, value]) => ` ${key}="${escaped(visibleLine(String(value)))}"`,
  );
  return list.join('');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, character => ENTITIES[character] ?? '');
}
