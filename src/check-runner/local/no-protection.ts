import type { Protection } from './protection.ts';

/** The command runs as the server's user. */
export const noProtection: Protection = {
  kind: 'none',
  treeOf: ({ tree }) => tree,
  users: undefined,
  wrap: async ({ command, folder }) => ({
    argv: ['/bin/sh', '-c', command],
    variables: { HOME: folder.home, TMPDIR: folder.temporary },
    token: undefined,
  }),
};
