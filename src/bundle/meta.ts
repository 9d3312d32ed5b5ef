import type { CommitFacts } from '../flaky/identity/ci-facts.ts';
import { cutVariant } from '../flaky/identity/test-id.ts';
import { Unreadable } from './unreadable.ts';

/** The used parts of meta.json. Unknown keys are ignored; keys that older clients do not write are null. */
export interface BundleMeta {
  readonly org: string;
  readonly repository: { readonly host: string; readonly owner: string; readonly name: string };
  readonly commit: MetaCommit;
  readonly bundleUploadId: string;
  readonly bundleUploadIdV2: string | null;
  readonly fileSets: readonly FileSet[];
  readonly envs: ReadonlyMap<string, string>;
  readonly os: string | null;
  /** The path of the client's CODEOWNERS: its folder decides the grammar. */
  readonly codeOwnersPath: string | null;
  /** Empty: no variant. */
  readonly variant: string;
  /** The entry with the runs; null: older clients sent only reports. */
  readonly internalPath: string | null;
}

export interface MetaCommit extends CommitFacts {
  readonly sha: string;
  /** As in git, such as refs/heads/main. */
  readonly branch: string;
}

export interface FileSet {
  readonly kind: 'junit' | 'internal';
  readonly files: readonly BundledFile[];
}

export interface BundledFile {
  /** The entry of the archive. */
  readonly path: string;
  /** The name that people see. */
  readonly originalPath: string;
}

const MAX_FILES = 10_000;
const MAX_ENVS = 1_000;
const MAX_TEXT = 8_000;

type Fields = Readonly<Record<string, unknown>>;

// SPEC U10
export function parseMeta(text: string): BundleMeta {
  const meta = parseObject(text);
  const repo = fields(meta['repo']);
  const names = fields(repo['repo']);
  return {
    org: required(meta['org'], 'org'),
    repository: {
      host: required(names['host'], 'repo.repo.host'),
      owner: required(names['owner'], 'repo.repo.owner'),
      name: required(names['name'], 'repo.repo.name'),
    },
    commit: parseCommit(meta, repo),
    bundleUploadId: required(meta['bundle_upload_id'], 'bundle_upload_id'),
    bundleUploadIdV2: textOf(meta['bundle_upload_id_v2']),
    fileSets: parseFileSets(meta['file_sets']),
    envs: parseEnvs(meta),
    os: textOf(meta['os_info']),
    codeOwnersPath: textOf(fields(meta['codeowners'])['path']),
    variant: cutVariant(textOf(meta['variant'])),
    internalPath: textOf(fields(meta['internal_bundled_file'])['path']),
  };
}

function parseObject(text: string): Fields {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Unreadable('BAD_META', 'meta.json is not JSON.', { cause: error });
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  throw new Unreadable('BAD_META', 'meta.json is not an object.');
}

function parseCommit(meta: Fields, repo: Fields): MetaCommit {
  return {
    sha: textOf(repo['repo_head_sha']) ?? '',
    branch: textOf(repo['repo_head_branch']) ?? '',
    message: textOf(repo['repo_head_commit_message']) ?? '',
    authorName: textOf(repo['repo_head_author_name']) ?? '',
    authorEmail: textOf(repo['repo_head_author_email']) ?? '',
    isUncloned: (repo['use_uncloned_repo'] ?? meta['use_uncloned_repo']) === true,
  };
}

function parseFileSets(value: unknown): FileSet[] {
  let count = 0;
  const sets: FileSet[] = [];
  for (const each of listOf(value)) {
    const set = fields(each);
    const files: BundledFile[] = [];
    for (const file of listOf(set['files']).map(fields)) {
      const path = textOf(file['path']);
      if (path === null) continue;
      count += 1;
      if (count > MAX_FILES) throw new Unreadable('TOO_BIG', `meta.json lists more than ${MAX_FILES} files.`);
      files.push({ path, originalPath: textOf(file['original_path_rel']) ?? textOf(file['original_path']) ?? path });
    }
    const kind = set['file_set_type'] === 'Internal' ? 'internal' : 'junit';
    sets.push({ kind, files });
  }
  return sets;
}

function parseEnvs(meta: Fields): ReadonlyMap<string, string> {
  // The uploader keeps its own variables apart. Its PR number is a fact of the run, like the others.
  const all = [...Object.entries(fields(meta['trunk_envs'])), ...Object.entries(fields(meta['envs']))];
  const envs = new Map<string, string>();
  for (const [name, value] of all) {
    if (typeof value === 'string' && name.length <= MAX_TEXT && envs.size < MAX_ENVS) {
      envs.set(name, value.slice(0, MAX_TEXT));
    }
  }
  return envs;
}

function required(value: unknown, key: string): string {
  const text = textOf(value);
  if (text === null || text === '') throw new Unreadable('BAD_META', `meta.json does not say “${key}”.`);
  return text;
}

function fields(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value.slice(0, MAX_TEXT) : null;
}

/** The server's facts about an upload, from the call that made its URL. */
export interface ExpectedMeta {
  readonly org: string;
  readonly repository: BundleMeta['repository'];
  readonly id: string;
  readonly idV2: string;
}

/** Returns how meta.json contradicts the URL that the bundle was put to, as a sentence; undefined: it does not. */
// SPEC U56
export function compareMeta(meta: BundleMeta, expected: ExpectedMeta): string | undefined {
  const name = ({ host, owner, name }: BundleMeta['repository']) => `${host}/${owner}/${name}`;
  const wrong: string[] = [];
  if (meta.org !== expected.org) wrong.push(`organization ${quote(meta.org)} instead of ${quote(expected.org)}`);
  if (name(meta.repository).toLowerCase() !== name(expected.repository).toLowerCase()) {
    wrong.push(`repository ${quote(name(meta.repository))} instead of ${quote(name(expected.repository))}`);
  }
  if (meta.bundleUploadId !== expected.id) wrong.push(`upload ${quote(meta.bundleUploadId)}`);
  if (meta.bundleUploadIdV2 !== null && meta.bundleUploadIdV2 !== expected.idV2) {
    wrong.push(`second upload id ${quote(meta.bundleUploadIdV2)}`);
  }
  return wrong.length === 0 ? undefined : `meta.json is of another upload: ${wrong.join(', ')}.`;
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 100));
}
