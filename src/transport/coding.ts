interface CodingHeaders {
  readonly 'content-encoding'?: string | undefined;
  readonly 'transfer-encoding'?: string | undefined;
}

/** Whether a body would have to be decoded before it could be read (threats, row 16). Chunks are framing, not encoding. */
export function isEncoded(headers: CodingHeaders): boolean {
  const content = headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  const transfer = headers['transfer-encoding']?.trim().toLowerCase() ?? 'chunked';
  return content !== 'identity' || transfer !== 'chunked';
}
