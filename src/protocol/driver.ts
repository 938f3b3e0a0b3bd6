import * as z from 'zod/mini';
import { readJson } from '../util/json.js';
import { isRecord } from '../util/values.js';
import { type Validation, validateTolerantly } from './validate.js';

/*
 * The driver protocol of `check --runtime`, described in src/guides/runtimes.md: a check writes instructions to the driver of a
 * runtime and reads what the runtime showed, one JSON object per line.
 */

const id = z
  .optional(z.string())
  .check(z.describe('Id of the call: of its instruction, else of its invocation'));

/** What a check asks of a runtime, one line on the standard input of its driver. */
export const instructionSchema = z.discriminatedUnion('do', [
  z
    .object({
      do: z.literal('invoke'),
      operation: z.string(),
      arguments: z.record(z.string(), z.unknown()),
      id: z.string(),
    })
    .check(z.describe('Call an operation, as if the model asked for it; several calls may be in progress')),
  z
    .object({ do: z.literal('answer'), choice: z.union([z.int(), z.string()]) })
    .check(z.describe('Answer the oldest open question: the index from 0, or the label of the choice')),
  z.object({ do: z.literal('dismiss') }).check(z.describe('Dismiss the oldest open question')),
  z.object({ do: z.literal('cancel') }).check(z.describe('Cancel every pending call and every subscription')),
  z
    .object({ do: z.literal('migrate'), destination_url: z.string() })
    .check(z.describe('Migrate the session')),
  z
    .object({ do: z.literal('child-thread') })
    .check(z.describe('Optional. Start a child of the current thread; later calls are made in it')),
  z
    .object({ do: z.literal('cancel-subscription'), id: z.string() })
    .check(
      z.describe('Optional. Cancel the subscription of the call with this id, as if the model asked for it'),
    ),
  z.object({ do: z.literal('end') }).check(z.describe('Close the thread and exit')),
]);

type AnyInstruction = z.infer<typeof instructionSchema>;

export type Instruction<Kind extends AnyInstruction['do'] = AnyInstruction['do']> = Extract<
  AnyInstruction,
  { do: Kind }
>;

/** What a runtime showed, one line on the standard output of its driver. */
export const observationSchema = z.discriminatedUnion('saw', [
  z
    .object({ saw: z.literal('model'), id, text: z.string() })
    .check(z.describe('Exactly what the model gets')),
  z
    .object({ saw: z.literal('failure'), id, text: z.string() })
    .check(z.describe('A failed result for the model')),
  z
    .object({ saw: z.literal('human'), id, type: z.string() })
    .check(z.describe('The type of the display segment that the user sees')),
  z
    .object({ saw: z.literal('question'), id, prompt: z.string(), choices: z.array(z.string()) })
    .check(z.describe('A choice that the user is asked to make')),
  z.object({ saw: z.literal('consent'), id }).check(z.describe('The user is asked to visit a page')),
  z
    .object({ saw: z.literal('view'), view_type: z.string(), content: z.unknown() })
    .check(z.describe('The latest content of a view; null or {} once it is cleared')),
  z.object({ saw: z.literal('migrated') }).check(z.describe('The migration succeeded')),
]);

/** What a check itself saw: in the log of the runtime after a scenario, or as its model. No driver writes it. Secrets are left out. */
export const findingSchema = z.discriminatedUnion('saw', [
  z
    .object({ saw: z.literal('leak'), where: z.enum(['model', 'failure', 'log']), text: z.string() })
    .check(z.describe('A text or a line with a value of the query of an auth_url')),
  z
    .object({
      saw: z.literal('log'),
      operations: z.array(z.string()),
      /** Of these, those without a time near them, and those with a result and without an outcome. */
      untimed: z.optional(z.array(z.string())),
      unended: z.optional(z.array(z.string())),
      /** The results that match no call and are not in the log, as thread and id. */
      undiscarded: z.optional(z.array(z.string())),
      isWhole: z.boolean(),
    })
    .check(z.describe("The operations that the runtime's own log names, of those that were called")),
  z
    .object({ saw: z.literal('unserved'), text: z.string() })
    .check(z.describe('A request of an agent that the scripted model does not serve')),
  z
    .object({ saw: z.literal('served') })
    .check(z.describe('The scripted model served the agent again, after a request that it did not serve')),
]);

type AnyFinding = z.infer<typeof findingSchema>;

export type Finding<Kind extends AnyFinding['saw'] = AnyFinding['saw']> = Extract<AnyFinding, { saw: Kind }>;

const names = z.array(z.string());

/** What a driver does not support: rules that need it do not apply. */
export const inabilitySchema = z
  .object({ cannot: names, can: z.optional(names) })
  .check(z.describe('Names of instructions and observations that the driver does not support'));

/** Which of the optional abilities a driver supports: without the line, rules that need them do not apply. */
export const abilitySchema = z
  .object({ can: names })
  .check(z.describe('Names of optional instructions that the driver supports'));

type AnyObservation = z.infer<typeof observationSchema>;

export type Observation<Kind extends AnyObservation['saw'] = AnyObservation['saw']> = Extract<
  AnyObservation,
  { saw: Kind }
>;
type Declaration = z.infer<typeof inabilitySchema> | z.infer<typeof abilitySchema>;

export type DriverLine = Observation | Declaration;

export type Ability = Instruction['do'] | Observation['saw'];

/** A driver supports these only if it says so, and every other ability unless it says that it cannot. */
export const OPTIONAL_ABILITIES: readonly string[] = [
  'child-thread',
  'cancel-subscription',
] satisfies readonly Ability[];

/** The names that `can` and `cannot` may list. */
export const ABILITIES: readonly string[] = [
  ...instructionSchema._zod.def.options.flatMap(({ shape }) => shape.do._zod.def.values),
  ...observationSchema._zod.def.options.flatMap(({ shape }) => shape.saw._zod.def.values),
];

/** What a driver supports, by its lines. */
export class DriverAbilities {
  readonly #can = new Set<string>();
  readonly #cannot = new Set<string>();

  add({
    can = [],
    cannot = [],
  }: {
    can?: readonly string[] | undefined;
    cannot?: readonly string[] | undefined;
  }): void {
    for (const name of can) this.#can.add(name);
    for (const name of cannot) this.#cannot.add(name);
  }

  supports(...abilities: readonly Ability[]): boolean {
    return this.missing(abilities).length === 0;
  }

  /** Those of these abilities that the driver does not support. */
  missing(abilities: readonly Ability[]): readonly Ability[] {
    return abilities.filter(
      name => this.#cannot.has(name) || (OPTIONAL_ABILITIES.includes(name) && !this.#can.has(name)),
    );
  }
}

/** Reads one line of a driver. Unknown members are ignored; null counts as absent for an optional member. */
export function readDriverLine(line: Uint8Array): Validation<DriverLine> {
  const json = readJson(line);
  if (!json.ok) return { ok: false, faults: ['not valid JSON'] };
  return validateTolerantly(schemaOf(json.value), json.value);
}

function schemaOf(value: unknown) {
  if (!isRecord(value)) return observationSchema;
  if ('cannot' in value) return inabilitySchema;
  return 'can' in value ? abilitySchema : observationSchema;
}
