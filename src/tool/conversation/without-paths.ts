const QUOTED = /(['"`])(?:file:\/\/|[a-z]:)?[\\/][^'"`\n]*[\\/]([^'"`\\/\n]*)\1/gi;
const BARE = /(?<![\w:/\\\].-])(?:file:\/\/|[a-z]:)?[\\/][^\s'"`<>|,;()]*[\\/]([^\s'"`<>|,;()\\/]*)/gi;

/** A message without the folders of absolute paths, which say how a machine is set up: `…/name` is enough for whoever owns it. */
export function withoutPaths(message: string): string {
  return message.replace(QUOTED, '$1…/$2$1').replace(BARE, '…/$1');
}
