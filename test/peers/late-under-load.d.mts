export const LATE_UNDER_LOAD: RegExp;
