/** A JSON Schema as it is written in code. */
export type JsonSchema = { readonly [keyword: string]: unknown };

interface Scalars {
  string: string;
  number: number;
  integer: number;
  boolean: boolean;
  null: null;
}

/** The type of the values that a JSON Schema lets in, as far as TypeScript can say it; `unknown` beyond that. */
export type ValueOf<S> = S extends { readonly const: infer C }
  ? C
  : S extends { readonly enum: readonly (infer E)[] }
    ? E
    : S extends { readonly type: keyof Scalars }
      ? Scalars[S['type']]
      : S extends { readonly type: 'array' }
        ? ValueOf<S extends { readonly items: infer I } ? I : unknown>[]
        : S extends { readonly type: 'object' }
          ? ObjectOf<S>
          : unknown;

/** A schema that declares no properties says nothing about them. */
type Properties<S> = S extends { readonly properties: infer P } ? P : Record<string, unknown>;
type Required<S> = S extends { readonly required: readonly (infer K)[] } ? K : never;

type ObjectOf<S> = {
  [K in keyof Properties<S> as K extends Required<S> ? K : never]: ValueOf<Properties<S>[K]>;
} & {
  [K in keyof Properties<S> as K extends Required<S> ? never : K]?: ValueOf<Properties<S>[K]>;
};

/** The `arguments` of an operation with this `inputSchema`. */
export type ArgumentsOf<S> = S extends { readonly type: 'object' } ? ObjectOf<S> : Record<string, unknown>;
