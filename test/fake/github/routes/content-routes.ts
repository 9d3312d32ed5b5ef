import type { Ask, Route } from '../exchange.ts';
import { runGit } from '../git.ts';
import type { Repository } from '../model.ts';
import { notFound } from '../refused.ts';
import { fullNameOf } from '../world.ts';
import { need, ok, type Params, repositoryOf } from './tools.ts';

export const contentRoutes: readonly Route[] = [
  { method: 'GET', path: '/repos/{owner}/{repo}/contents/{path}', handle: getContent },
];

interface TreeEntry {
  readonly type: 'file' | 'dir';
  readonly sha: string;
  readonly size: number;
  readonly path: string;
}

/** A file with its content, or the list of a folder. */
async function getContent(ask: Ask, params: Params) {
  const repository = repositoryOf(ask, params, need('contents', 'read'));
  const ref = ask.query.get('ref') ?? repository.defaultBranch;
  const path = (params['path'] ?? '').replaceAll(/^\/+|\/+$/g, '');
  const [own] = await listTree(repository, ref, path);
  if (own === undefined) throw notFound();
  if (path === '' || own.type === 'dir') {
    const entries = await listTree(repository, ref, path === '' ? '' : `${path}/`);
    return ok(entries.map((entry) => entryView(ask, repository, ref, entry)));
  }
  const { stdout } = await runGit(repository.gitDir, ['cat-file', 'blob', own.sha]);
  if (isRawWanted(ask))
    return { status: 200, headers: { 'content-type': 'application/vnd.github.raw; charset=utf-8' }, body: stdout };
  return ok({ ...entryView(ask, repository, ref, own), encoding: 'base64', content: stdout.toString('base64') });
}

function isRawWanted({ headers }: Ask): boolean {
  return /application\/vnd\.github(?:\.v3)?\.raw/.test(headers['accept'] ?? '');
}

async function listTree({ gitDir }: Repository, ref: string, path: string): Promise<readonly TreeEntry[]> {
  const args = ['ls-tree', '--long', '-z', '--end-of-options', ref, ...(path === '' ? [] : [path])];
  const { code, stdout } = await runGit(gitDir, args, { expected: [0, 128] });
  if (code !== 0) return [];
  return stdout
    .toString()
    .split('\0')
    .filter((line) => line !== '')
    .map((line) => {
      const [facts = '', name = ''] = line.split('\t');
      const [, type, sha = '', size] = facts.split(/ +/);
      return { type: type === 'tree' ? 'dir' : 'file', sha, size: Number(size) || 0, path: name };
    });
}

function entryView({ world }: Ask, repository: Repository, ref: string, { type, sha, size, path }: TreeEntry) {
  const name = fullNameOf(repository);
  const api = `${world.url}/repos/${name}`;
  const self = `${api}/contents/${path}?ref=${ref}`;
  const git = `${api}/git/${type === 'dir' ? 'trees' : 'blobs'}/${sha}`;
  const html = `${world.url}/${name}/${type === 'dir' ? 'tree' : 'blob'}/${ref}/${path}`;
  return {
    type,
    size,
    name: path.split('/').at(-1) ?? path,
    path,
    sha,
    url: self,
    git_url: git,
    html_url: html,
    download_url: type === 'dir' ? null : `${world.url}/raw/${name}/${ref}/${path}`,
    _links: { self, git, html },
  };
}
