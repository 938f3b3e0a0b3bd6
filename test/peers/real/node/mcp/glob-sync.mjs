import { register } from 'node:module';

// Node.js before 22 has no `globSync` in `fs`; the conformance suite imports it, and calls it only to rewrite its own sources.
const FS = 'export * from "node:fs"; export { default } from "node:fs"; export const globSync = () => [];';
const url = source => `data:text/javascript,${encodeURIComponent(source)}`;

register(
  url(`export const resolve = (specifier, context, next) =>
    specifier === 'fs' && context.parentURL?.includes('/@modelcontextprotocol/conformance/')
      ? { url: ${JSON.stringify(url(FS))}, shortCircuit: true }
      : next(specifier, context);`),
);
