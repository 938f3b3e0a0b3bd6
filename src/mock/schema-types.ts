/** A JSON Schema in TypeScript code. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** The type of the values that a JSON Schema accepts, as far as TypeScript can express it; otherwise `unknown`. */
export type ValueOf<S> = S extends { readonly const: infer C }
  ? C
  : S extends { readonly enum: readonly (infer E)[] }
    ? E
    : S extends { readonly type: 'string' }
      ? string
      : S extends { readonly type: 'number' | 'integer' }
        ? number
        : S extends { readonly type: 'boolean' }
          ? boolean
          : S extends { readonly type: 'null' }
            ? null
            : S extends { readonly type: 'array' }
              ? ValueOf<S extends { readonly items: infer I } ? I : unknown>[]
              : S extends { readonly type: 'object' }
                ? ObjectOf<S>
                : unknown;

/** The properties that a schema declares. Without any, any property may exist. */
export type PropertiesOf<S> = S extends { readonly properties: infer P } ? P : Record<string, unknown>;

/** The names of the properties that a schema requires. */
export type RequiredOf<S> = S extends { readonly required: readonly (infer K)[] } ? K : never;

/** The type of the objects that a JSON Schema accepts. */
export type ObjectOf<S> = {
  [K in keyof PropertiesOf<S> as K extends RequiredOf<S> ? K : never]: ValueOf<PropertiesOf<S>[K]>;
} & {
  [K in keyof PropertiesOf<S> as K extends RequiredOf<S> ? never : K]?: ValueOf<PropertiesOf<S>[K]>;
};

/** The `arguments` of an operation with this `inputSchema`. */
export type ArgumentsOf<S> = S extends { readonly type: 'object' } ? ObjectOf<S> : Record<string, unknown>;
