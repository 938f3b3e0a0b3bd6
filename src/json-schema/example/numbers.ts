import type { Schema } from './resolved.js';

/** A number within the bounds, the nearest to 1; where there is none, one that is not. */
export function exampleNumber(schema: Schema, isInteger: boolean): number {
  const step = numberIn(schema, 'multipleOf') ?? (isInteger ? 1 : 0);
  const { least, most } = boundsOf(schema, step);
  const wanted = Math.min(Math.max(1, least), most);
  return step > 0 ? onGrid(wanted, step, most) : wanted;
}

/** An exclusive bound as an inclusive one, by a step that keeps off it. */
export function boundsOf(schema: Schema, step: number) {
  const off = step > 0 ? step : 0.5;
  const above = numberIn(schema, 'exclusiveMinimum');
  const below = numberIn(schema, 'exclusiveMaximum');
  return {
    least: Math.max(
      numberIn(schema, 'minimum') ?? Number.NEGATIVE_INFINITY,
      above === undefined ? Number.NEGATIVE_INFINITY : above + off,
    ),
    most: Math.min(
      numberIn(schema, 'maximum') ?? Number.POSITIVE_INFINITY,
      below === undefined ? Number.POSITIVE_INFINITY : below - off,
    ),
  };
}

function onGrid(wanted: number, step: number, most: number): number {
  const up = Math.ceil(wanted / step) * step;
  return up <= most ? up : Math.floor(most / step) * step;
}

export function numberIn(schema: Schema, keyword: string): number | undefined {
  const value = schema[keyword];
  return typeof value === 'number' ? value : undefined;
}
