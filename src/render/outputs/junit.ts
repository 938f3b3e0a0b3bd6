import { visible, visibleLine } from '../../util/visible.js';

/** One test of a JUnit report; without `ending` it passed. */
export interface JunitTest {
  readonly classname: string;
  readonly name: string;
  /** `fixtures.yaml:12` is a line of a file; `fixtures.json#3` is only its file. */
  readonly place?: string;
  readonly seconds: number;
  readonly ending?: {
    readonly kind: 'failure' | 'error' | 'skipped';
    readonly type: string;
    readonly message: string;
    readonly text: string;
  };
  /** Shown also where it passed. */
  readonly output?: string;
}

export interface JunitSuite {
  readonly name: string;
  readonly seconds: number;
  readonly tests: readonly JunitTest[];
  readonly output?: string;
}

/** JUnit's XML; suites without tests are left out. Texts are foreign. */
export function junitXml(name: string, seconds: number, suites: readonly JunitSuite[]): string {
  const shown = suites.filter(({ tests }) => tests.length > 0);
  const all = shown.flatMap(({ tests }) => tests);
  const root = element('testsuites', { name, ...countsOf(all), time: seconds }, shown.map(suiteElement));
  return `<?xml version="1.0" encoding="UTF-8"?>\n${written(root, '')}`;
}

function suiteElement({ name, tests, seconds, output }: JunitSuite): Element {
  return element('testsuite', { name, ...countsOf(tests), time: seconds }, [
    ...tests.map(testElement),
    ...outputElements(output),
  ]);
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

function testElement({ classname, name, place, seconds, ending, output }: JunitTest): Element {
  const attributes = { classname, name, ...placeOf(place ?? ''), time: seconds };
  if (!ending) return element('testcase', attributes, outputElements(output));
  const { kind, type, message, text } = ending;
  // What is skipped has only a message.
  const child = kind === 'skipped' ? element(kind, { message }) : element(kind, { type, message }, [], text);
  return element('testcase', attributes, [child]);
}

function outputElements(output: string | undefined): Element[] {
  return output === undefined ? [] : [element('system-out', {}, [], output)];
}

/** The file and the line of a place, as attributes. */
export function placeOf(place: string): Record<string, string> {
  const [, file, line] = /^(.+?)(?::(\d+)(?::\d+)?|#\d+)$/.exec(place) ?? [];
  return { ...(file !== undefined && { file }), ...(line !== undefined && { line }) };
}

interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string | number>>;
  readonly children: readonly Element[];
  readonly text: string;
}

function element(
  name: string,
  attributes: Element['attributes'],
  children: readonly Element[] = [],
  text = '',
): Element {
  return { name, attributes, children, text };
}

/** What XML 1.0 cannot hold (control characters, lone surrogates) is made visible. */
function written({ name, attributes, children, text }: Element, indent: string): string {
  // A reader would turn a line feed in an attribute into a space.
  const list = Object.entries(attributes).map(
    ([key, value]) => ` ${key}="${escaped(visibleLine(String(value)))}"`,
  );
  const start = `${indent}<${name}${list.join('')}`;
  if (children.length > 0)
    return `${start}>\n${children.map(child => written(child, `${indent}  `)).join('')}${indent}</${name}>\n`;
  return text === '' ? `${start}/>\n` : `${start}>${escaped(visible(text))}</${name}>\n`;
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
