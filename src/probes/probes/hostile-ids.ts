/** Ids that a notice may name, and that no path, no query and no log may take for anything else. */
export const HOSTILE_IDS: readonly string[] = [
  '../../etc/passwd',
  '..%2f..%2fetc%2fpasswd',
  '',
  'x'.repeat(4_096),
  'Zoë 工具 🛠️ \u0000 \u202e',
];
