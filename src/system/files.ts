import { constants } from 'node:fs';
import type * as fs from 'node:fs/promises';

/** What of node:fs is used, so that a test can make each call fail. */
export type Files = Pick<typeof fs, 'link' | 'lstat' | 'open' | 'rename' | 'rm'>;

export const OWNER_ONLY = 0o600;
export const EVERYBODY_MAY_READ = 0o644;

/** Fails where anything is, be it a link to nowhere (threats, row 26). */
export const NEW_AND_NOT_A_LINK =
  constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
