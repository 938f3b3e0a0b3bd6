import * as z from 'zod/mini';

/** A pattern for JSON Schema, which knows no protocols of URLs. */
export const WEB_URL = /^[Hh][Tt][Tt][Pp][Ss]?:/;

export const webUrlSchema = z
  .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
  .check(z.meta({ pattern: WEB_URL.source }));
