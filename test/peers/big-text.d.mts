export function bigText(bytes: number, kind?: 'ascii' | 'mixed'): string;
