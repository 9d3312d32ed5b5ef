import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { write } from '../../../src/cli/core/terminal.ts';
import { runGit } from '../../../test/contract/plain-repository.ts';
import type { GiteaPeople } from '../../../test/gitea/any-gitea.ts';

const REPOSITORY = 'acme/shop';
const INTERVAL_MS = 100;
const TIMEOUT_MS = 60_000;

/** Runs the tests of the shop for every test branch, one after another, and sets statuses as the account ci. */
export function startCi(people: GiteaPeople, folder: string): { stop(): Promise<void> } {
  const seen = new Set<string>();
  let isStopped = false;
  const run = async () => {
    while (!isStopped) {
      for (const sha of await listTested(people)) {
        if (isStopped || seen.has(sha)) continue;
        seen.add(sha);
        await check(people, sha, path.join(folder, 'ci', sha)).catch((error: unknown) =>
          write(`CI could not look at ${sha}: ${error}`),
        );
      }
      await setTimeout(INTERVAL_MS);
    }
  };
  const ended = run();
  return {
    stop: async () => {
      isStopped = true;
      await ended;
    },
  };
}

async function listTested({ gitea }: GiteaPeople): Promise<readonly string[]> {
  const refs = await runGit(gitea.gitDirOf(REPOSITORY), [
    'for-each-ref',
    '--format=%(objectname)',
    'refs/heads/sluice/',
  ]);
  return refs.split('\n').filter(Boolean);
}

async function check(people: GiteaPeople, sha: string, folder: string): Promise<void> {
  const report = (state: string) =>
    people.get('ci', 'POST', `/repos/${REPOSITORY}/statuses/${sha}`, { state, context: 'unit' });
  await report('pending');
  await mkdir(folder, { recursive: true });
  const gitDir = people.gitea.gitDirOf(REPOSITORY);
  await promisify(execFile)('sh', ['-c', 'git --git-dir "$0" archive "$1" | tar -x -C "$2"', gitDir, sha, folder]);
  const isGreen = await promisify(execFile)(process.execPath, ['--test'], {
    cwd: folder,
    env: {},
    timeout: TIMEOUT_MS,
  }).then(
    () => true,
    () => false,
  );
  await report(isGreen ? 'success' : 'failure');
}
