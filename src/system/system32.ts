import { win32 } from 'node:path';

/** The full path of a program of Windows, since Windows searches the current folder first. */
export function system32(
  program: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
): string {
  return win32.join(env['SystemRoot'] ?? 'C:\\Windows', 'System32', program);
}
