import type { Warning } from '../../protocol/requirements.js';
import type { Wire } from '../../runtime/wire.js';

/** That credentials are kept from an endpoint, since they were given for another origin (threats, row 12). */
export function withheld({ credentials }: Wire, endpoint: string): Warning[] {
  const names = Object.keys(credentials.headers);
  if (names.length === 0 || new URL(endpoint).origin === credentials.origin) return [];
  return [
    {
      message: `the endpoint ${endpoint} is on another origin than ${credentials.origin}: ${names.join(', ')} withheld from it`,
    },
  ];
}
