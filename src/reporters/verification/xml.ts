import { visible, visibleLine } from '../../text/visible.js';

/** An element of XML 1.0. What it cannot hold (control characters, half surrogates) is made visible instead. */
export interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string | number | undefined>>;
  readonly children?: readonly XmlElement[];
  readonly text?: string;
}

export function xmlDocument(root: XmlElement): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${element(root, '')}`;
}

function element({ name, attributes, children = [], text = '' }: XmlElement, indent: string): string {
  const start = `${indent}<${name}${Object.entries(attributes).map(attribute).join('')}`;
  if (children.length === 0 && text === '') return `${start}/>\n`;
  if (children.length === 0) return `${start}>${escaped(visible(text))}</${name}>\n`;
  return `${start}>\n${children.map(child => element(child, `${indent}  `)).join('')}${indent}</${name}>\n`;
}

/** On one line: a reader would turn a line feed into a space. */
function attribute([name, value]: [string, string | number | undefined]): string {
  return value === undefined ? '' : ` ${name}="${escaped(visibleLine(String(value)))}"`;
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
