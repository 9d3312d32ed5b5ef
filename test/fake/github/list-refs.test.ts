import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { AskGit } from '../git-files/object-files.ts';
import { gitEnv } from '../hosted/git.ts';
import { advertiseRefs, listRefs, packetOf } from '../hosted/list-refs.ts';
import { useGithub } from './use-github.ts';

const here = useGithub();

function git(args: readonly string[], { input = '', version = '' } = {}): Buffer {
  return execFileSync('git', args, { input, env: { ...gitEnv(), GIT_PROTOCOL: version } });
}

function update(lines: readonly string[]): void {
  git(['-C', here.repository.gitDir, 'update-ref', '--stdin'], { input: `${lines.join('\n')}\n` });
}

function requestOf(command: string, args: readonly string[]): string {
  const [name, ...others] = [`command=${command}`, 'agent=git/2.39.5', 'object-format=sha1'];
  return `${[name, ...others].map((each) => packetOf(`${each}\n`)).join('')}0001${args.map((arg) => packetOf(`${arg}\n`)).join('')}0000`;
}

const LISTS = [
  ['peel', 'symrefs', 'unborn', 'ref-prefix HEAD', 'ref-prefix refs/heads/'],
  ['peel', 'ref-prefix refs/heads/', 'ref-prefix refs/tags/'],
  ['ref-prefix refs/pull/1/head'],
  ['ref-prefix refs/none/'],
  ['peel', 'symrefs'],
];

describe('refs that are listed without git', () => {
  it('are listed as git lists them', () => {
    const { gitDir } = here.repository;
    const names = [
      'refs/heads/a/b',
      'refs/heads/a-b',
      'refs/heads/ä',
      'refs/pull/1/head',
      'refs/scratch/x',
      'refs/tags/t',
    ];
    update(names.map((ref) => `create ${ref} ${here.main}`));
    git(['-C', gitDir, 'pack-refs', '--all']);
    update([`create refs/heads/later ${here.main}`, `create refs/sluice/candidates/1 ${here.main}`]);
    for (const args of LISTS) {
      const input = requestOf('ls-refs', args);
      const asked = git(['upload-pack', '--stateless-rpc', gitDir], { input, version: 'version=2' });
      assert.equal(listRefs(gitDir, Buffer.from(input)).toString(), asked.toString(), args.join());
    }
    const advertised = git(['receive-pack', '--stateless-rpc', '--advertise-refs', gitDir]);
    assert.equal(advertiseRefs(gitDir, advertised).toString(), advertised.toString());
  });

  it('are left to git where files do not say enough', () => {
    const { gitDir } = here.repository;
    assert.throws(() => listRefs(gitDir, Buffer.from(requestOf('fetch', ['done']))), AskGit);
    const list = Buffer.from(requestOf('ls-refs', ['peel']));
    git([
      '-C',
      gitDir,
      '-c',
      'user.name=a',
      '-c',
      'user.email=a@b',
      'tag',
      '-a',
      '-m',
      'text',
      'annotated',
      here.main as string,
    ]);
    assert.throws(() => listRefs(gitDir, list), AskGit);
    update(['delete refs/heads/main', 'delete refs/tags/annotated']);
    assert.throws(() => listRefs(gitDir, list), AskGit);
    assert.throws(() => advertiseRefs(gitDir, Buffer.from('')), AskGit);
  });
});
