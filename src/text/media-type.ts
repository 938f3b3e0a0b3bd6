/** What a Content-Type says without its parameters, in lower case (RFC 9110, section 8.3). */
export function mediaTypeOf(contentType: string): string {
  return contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
}
