import { type Room, roomFor, type Schema } from '../../../json-schema/example/resolved.js';

/** Fields on one screen that anybody would go through; what would be more is JSON. */
const MOST_FIELDS = 1_000;
const MOST_STEPS = 200_000;

export interface Setting {
  /** Where a `$ref` points into. */
  readonly root: Schema;
  readonly depth: number;
  /** How many fields there may be at and below. */
  readonly room: number;
  /** What making all of it may cost: a schema may refer to itself many times (threats, row 22). */
  readonly steps: Room;
  readonly isRequired: boolean;
  /** What a default stands in for: where nothing was given yet all, else what is required; nothing where a variant was only guessed. */
  readonly defaults: 'all' | 'required' | 'none';
}

/** Of a person who opens something new. */
export function freshSetting(root: Schema, depth: number): Setting {
  return { root, depth, room: MOST_FIELDS, steps: roomFor(MOST_STEPS), isRequired: true, defaults: 'all' };
}

export function takesDefault({ defaults, isRequired }: Setting): boolean {
  return defaults === 'all' || (defaults === 'required' && isRequired);
}

/** Each of so many gets its share of the room. */
export function below(setting: Setting, count: number): Setting | null {
  const room = count === 0 ? 0 : Math.floor((setting.room - count) / count);
  return room < 0 ? null : { ...setting, room, depth: setting.depth + 1 };
}
