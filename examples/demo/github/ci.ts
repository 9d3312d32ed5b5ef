import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { write } from '../../../src/cli/core/terminal.ts';
import type { FakeGithub } from '../../../test/fake/github/fake-github.ts';
import type { Repository } from '../../../test/fake/github/model.ts';
import { runGit } from '../../../test/fake/hosted/git.ts';

const INTERVAL_MS = 100;
const TIMEOUT_MS = 60_000;

export interface Ci {
  stop(): Promise<void>;
}

/** Runs the tests of the shop for every pull request and every test branch, one commit after another, and reports. */
export function startCi(github: FakeGithub, repository: Repository, folder: string): Ci {
  const seen = new Set<string>();
  let last: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    for (const sha of wantedOf(repository)) {
      if (seen.has(sha)) continue;
      seen.add(sha);
      last = last
        .then(() => check(github, repository, { sha, folder: path.join(folder, 'ci', sha) }))
        // The commits after it are still tested.
        .catch((error: unknown) => write(`CI could not look at ${sha}: ${error}`));
    }
  }, INTERVAL_MS);
  return {
    stop: async () => {
      clearInterval(timer);
      await last;
    },
  };
}

function wantedOf({ pulls, refs }: Repository): readonly string[] {
  const branches = [...refs].filter(([ref]) => ref.startsWith('refs/heads/sluice/'));
  return [...[...pulls.values()].map(({ headSha }) => headSha), ...branches.map(([, sha]) => sha)];
}

interface Job {
  readonly sha: string;
  readonly folder: string;
}

async function check(github: FakeGithub, repository: Repository, { sha, folder }: Job): Promise<void> {
  const report = { sha, name: 'unit', detailsUrl: `${github.url}/acme/shop/actions/${sha.slice(0, 12)}` };
  github.reportCheck(repository, { ...report, status: 'in_progress' });
  const env = { GIT_INDEX_FILE: `${folder}.index` };
  const checkout = [`--work-tree=${folder}`, 'checkout', '--quiet', sha, '--', '.'];
  const isGreen = await mkdir(folder, { recursive: true })
    .then(() => runGit(repository.gitDir, checkout, { env }))
    .then(() => promisify(execFile)(process.execPath, ['--test'], { cwd: folder, env: {}, timeout: TIMEOUT_MS }))
    .then(
      () => true,
      () => false,
    );
  github.reportCheck(repository, { ...report, status: 'completed', conclusion: isGreen ? 'success' : 'failure' });
}
