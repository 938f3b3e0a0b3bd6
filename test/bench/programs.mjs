import { fileURLToPath } from 'node:url';

const pathOf = relative => fileURLToPath(new URL(relative, import.meta.url));

const OURS = pathOf('../../bin/protocol-cli.cjs');
const MINIMAL = fileURLToPath(import.meta.resolve('./minimal-invoke.mjs'));

/** Arguments of `node`: what is measured, and what it is measured against. */
export const nothing = ['-e', '0'];
export const oneLetter = ['-e', 'process.stdout.write("x")'];
export const minimalInvoke = (url, operation, args) => [MINIMAL, url, operation, JSON.stringify(args)];
export const ours = (...words) => [OURS, ...words];
