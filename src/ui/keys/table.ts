/** What a key asks for in a place. */
export interface Binding<Place extends string, Command extends string> {
  readonly command: Command;
  readonly place: Place;
  /** Names of keys, see `nameOf`. */
  readonly keys: readonly string[];
  /** As it is shown. */
  readonly label: string;
  readonly does: string;
}

/** @param keys their names, a space between them */
export function bind<Place extends string, Command extends string>(
  place: Place,
  command: Command,
  keys: string,
  label: string,
  does: string,
): Binding<Place, Command> {
  return { command, place, keys: keys.split(' '), label, does };
}

/** What a key means where it is pressed: in the first of these places that knows it. */
export function commandIn<Place extends string, Command extends string>(
  bindings: readonly Binding<Place, Command>[],
  name: string,
  places: readonly Place[],
): Command | undefined {
  for (const place of places)
    for (const { command, keys, place: own } of bindings)
      if (own === place && keys.includes(name)) return command;
  return undefined;
}
