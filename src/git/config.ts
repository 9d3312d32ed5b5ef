import { runGit } from './exec.ts';

const PURPOSE = 'read the configuration of the repository';

/** Reads the repository's own configuration file only. */
export async function findConfig(gitDir: string, key: string): Promise<string | undefined> {
  const args = ['config', '--local', '--null', '--get', '--end-of-options', key];
  const { exitCode, stdout } = await runGit(args, { purpose: PURPOSE, gitDir, expected: [0, 1] });
  return exitCode === 0 ? stdout.toString().split('\0', 1)[0] : undefined;
}

export async function setConfig(gitDir: string, key: string, value: string | undefined): Promise<void> {
  const args = value === undefined ? ['--unset-all', '--end-of-options', key] : ['--end-of-options', key, value];
  // Exit code 5: it is not set. Two servers may open one mirror at the same time.
  await runGit(['config', '--local', ...args], { purpose: PURPOSE, gitDir, expected: [0, 5] });
}
