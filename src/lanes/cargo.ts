import { parse } from 'smol-toml';
import {
  chooseFolders,
  isTable,
  type ManifestFiles,
  type Need,
  needsAt,
  type PackageDraft,
  textsIn,
} from './package-draft.ts';

const KINDS = ['dependencies', 'dev-dependencies', 'build-dependencies'];

type Table = Readonly<Record<string, unknown>>;

/** Members of Cargo workspaces. */
export function readCargo(files: ManifestFiles): readonly PackageDraft[] {
  const drafts = new Map<string, PackageDraft>();
  for (const root of files.folders('Cargo.toml')) {
    const workspace = tableIn(files.find('Cargo.toml', root, parse), 'workspace');
    if (workspace === undefined) continue;
    const inherited = tableIn(workspace, 'dependencies') ?? {};
    const waiting = [root, ...membersOf(files, root, workspace)];
    for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
      if (drafts.has(folder)) continue;
      const manifest = files.read('Cargo.toml', folder, parse) ?? {};
      const needs = needsOf(manifest, { folder, root, inherited });
      const name = tableIn(manifest, 'package')?.['name'];
      if (name !== undefined) drafts.set(folder, { name: typeof name === 'string' ? name : '', folder, needs });
      // A dependency with a path beneath the workspace is a member too.
      waiting.push(...needs.flatMap((need) => ('folder' in need && isBeneath(need.folder, root) ? [need.folder] : [])));
    }
  }
  return [...drafts.values()];
}

function membersOf(files: ManifestFiles, root: string, workspace: Table): readonly string[] {
  const out = textsIn(workspace['exclude']).flatMap((pattern) => [`!${pattern}`, `!${pattern}/**`]);
  const patterns = [...textsIn(workspace['members']), ...out];
  return chooseFolders(files.folders('Cargo.toml'), { root, patterns, at: 'members in Cargo.toml' });
}

interface Place {
  readonly folder: string;
  readonly root: string;
  readonly inherited: Table;
}

function needsOf(manifest: Table, place: Place): readonly Need[] {
  const targets = Object.values(tableIn(manifest, 'target') ?? {});
  return [manifest, ...targets].flatMap((each) =>
    KINDS.flatMap((kind) => {
      const table = isTable(each) ? (tableIn(each, kind) ?? {}) : {};
      return Object.entries(table).flatMap(([name, value]) => needOf(name, value, place));
    }),
  );
}

function needOf(name: string, value: unknown, { folder, root, inherited }: Place): readonly Need[] {
  if (!isTable(value)) return [{ name }];
  if (value['workspace'] === true) return needOf(name, inherited[name], { folder: root, root, inherited: {} });
  const { path, package: real } = value;
  return [{ name: typeof real === 'string' ? real : name }, ...(typeof path === 'string' ? needsAt(folder, path) : [])];
}

function isBeneath(folder: string, root: string): boolean {
  return root === '' || folder.startsWith(`${root}/`);
}

function tableIn(value: unknown, name: string): Table | undefined {
  const found = isTable(value) ? value[name] : undefined;
  return isTable(found) ? found : undefined;
}
