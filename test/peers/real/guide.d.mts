export function guideText(): Promise<string>;
