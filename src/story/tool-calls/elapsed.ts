/** Time since the start for the margin of a list or a log: `0:01.2`, `12:03.4`, `1:02:03.4`. */
export function elapsed(milliseconds: number): string {
  const tenths = Math.floor(milliseconds / 100);
  const [hours, minutes, seconds] = [tenths / 36_000, (tenths / 600) % 60, (tenths / 10) % 60].map(
    Math.floor,
  );
  const rest = `${two(seconds)}.${tenths % 10}`;
  return hours ? `${hours}:${two(minutes)}:${rest}` : `${minutes}:${rest}`;
}

function two(number = 0): string {
  return String(number).padStart(2, '0');
}
