import type { UserChoice } from '../../protocol/callbacks/index.js';

/** The index that `--choose` picks: an index from 0, a label, or `default`; null where it fits none of the choices. */
export function selectedIndex(choose: string, { choices, default: preset }: UserChoice): number | null {
  if (choose === 'default') return preset;
  const label = choices.indexOf(choose);
  if (label >= 0) return label;
  return /^\d+$/.test(choose) && Number(choose) < choices.length ? Number(choose) : null;
}
