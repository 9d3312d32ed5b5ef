import { randomUUID } from 'node:crypto';
import { beginCommand, type Protection } from './protection.ts';
import type { UserPool } from './user-pool.ts';

export interface UsersOptions {
  readonly users: UserPool;
  readonly processes: number;
}

/** A separate user for each running command, without a sandbox. For root on systems without namespaces. */
export function createUsers({ users, processes }: UsersOptions): Protection {
  return {
    kind: 'users',
    treeOf: ({ tree }) => tree,
    users,
    wrap: async ({ command, mark, folder }) => {
      const token = randomUUID();
      return {
        // A setuid program would escape the kill of the user's processes.
        argv: ['setpriv', '--no-new-privs', ...beginCommand({ processes, token, mark, command, sharesFiles: false })],
        variables: { HOME: folder.home, TMPDIR: folder.temporary, USER: 'check', LOGNAME: 'check' },
        token,
      };
    },
  };
}
