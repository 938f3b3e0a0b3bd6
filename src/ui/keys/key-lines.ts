import type { Line } from '../../story/line.js';
import { say } from '../../story/spans.js';
import type { Binding } from './table.js';

/** Keys, and what they do somewhere. */
export interface KeyTable {
  readonly title: string;
  readonly keys: readonly { readonly label: string; readonly does: string }[];
}

/** The keys of each place, in the order of the places. @param first those that come before the others */
export function tablesOf<Place extends string>(
  bindings: readonly Binding<Place, string>[],
  titles: Readonly<Record<Place, string>>,
  first: readonly Place[] = [],
): readonly KeyTable[] {
  const places = new Set([...first, ...(Object.keys(titles) as Place[])]);
  return [...places].map(place => ({
    title: titles[place],
    keys: bindings.filter(binding => binding.place === place),
  }));
}

/** All keys, for the help. */
export function keyLines(tables: readonly KeyTable[]): readonly Line[] {
  const width = Math.max(...tables.flatMap(({ keys }) => keys.map(({ label }) => label.length)));
  return tables.flatMap(({ title, keys }, index) => [
    ...(index === 0 ? [] : [[]]),
    [say(title.toUpperCase(), 'title')],
    ...keys.map(
      ({ label, does }): Line => [
        say('  '),
        say(label.padEnd(width), 'title'),
        say('  ', 'gutter'),
        say(does),
      ],
    ),
  ]);
}
