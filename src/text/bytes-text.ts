/** `1 byte`, `312 bytes`. */
export function bytesText(count: number): string {
  return `${count} byte${count === 1 ? '' : 's'}`;
}
