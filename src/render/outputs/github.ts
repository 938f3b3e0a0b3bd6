import { visible } from '../../util/visible.js';

/** The workflow command of an annotation on GitHub Actions. */
export type AnnotationLevel = 'error' | 'warning' | 'notice';

/** `::error file=cases.yaml,line=3,title=…::message`, escaped as GitHub documents it. Texts are untrusted. */
export function annotation(
  level: AnnotationLevel,
  properties: Readonly<Record<string, string>>,
  message: string,
): string {
  const list = Object.entries(properties).map(
    ([key, value]) => `${key}=${escaped(value).replaceAll(':', '%3A').replaceAll(',', '%2C')}`,
  );
  return `::${level} ${list.join(',')}::${escaped(message)}\n`;
}

function escaped(text: string): string {
  return visible(text).replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}
