import { parseYaml } from '../lib/parse-yaml.ts';
import { BadManifest } from './lanes.ts';
import {
  chooseFolders,
  isTable,
  type ManifestFiles,
  type Need,
  needsAt,
  type PackageDraft,
  textsIn,
} from './package-draft.ts';

const KINDS = ['dependencies', 'devDependencies', 'peerDependencies', 'optionalDependencies'];

/** Workspaces of npm, Yarn and pnpm. */
export function readNpm(files: ManifestFiles): readonly PackageDraft[] {
  const folders = files.folders('package.json');
  const chosen = new Set<string>();
  for (const root of new Set([...folders, ...files.folders('pnpm-workspace.yaml')])) {
    for (const { at, patterns } of patternsOf(files, root)) {
      for (const folder of chooseFolders(folders, { root, patterns, at })) chosen.add(folder);
    }
  }
  return [...chosen].map((folder) => {
    const manifest = files.read('package.json', folder, parseTable) ?? {};
    const { name } = manifest;
    return { name: typeof name === 'string' ? name : '', folder, needs: needsOf(manifest, folder) };
  });
}

function patternsOf(files: ManifestFiles, root: string) {
  const { workspaces } = files.find('package.json', root, parseTable) ?? {};
  const pnpm = files.read('pnpm-workspace.yaml', root, parsePnpm) ?? [];
  const npm = textsIn(isTable(workspaces) ? workspaces['packages'] : workspaces);
  return [
    { at: 'workspaces in package.json', patterns: npm },
    { at: 'packages in pnpm-workspace.yaml', patterns: pnpm },
  ].filter(({ patterns }) => patterns.length > 0);
}

function parsePnpm(text: string): readonly string[] {
  const file = parseYaml(Buffer.from(text), 0);
  if (file === 'unreadable') throw new BadManifest('pnpm-workspace.yaml is not valid YAML, or uses aliases');
  return isTable(file) ? textsIn(file['packages']) : [];
}

function parseTable(text: string): Readonly<Record<string, unknown>> {
  const value: unknown = JSON.parse(text.startsWith('\uFEFF') ? text.slice(1) : text);
  if (!isTable(value)) throw new Error('no object');
  return value;
}

function needsOf(manifest: Readonly<Record<string, unknown>>, folder: string): readonly Need[] {
  return KINDS.flatMap((kind) => {
    const table = manifest[kind];
    return isTable(table) ? Object.entries(table).flatMap(([name, range]) => needOf(name, range, folder)) : [];
  });
}

/** A range may lead to a folder, or give another package this name. */
function needOf(name: string, range: unknown, folder: string): readonly Need[] {
  const [, protocol, rest = ''] =
    (typeof range === 'string' && /^(file|link|portal|workspace|npm):(.*)$/s.exec(range)) || [];
  if (protocol === undefined) return [{ name }];
  const isFolder = protocol === 'workspace' ? /^\.{1,2}\//.test(rest) : protocol !== 'npm';
  if (isFolder) return [{ name }, ...needsAt(folder, rest)];
  const end = rest.indexOf('@', 1);
  return end < 0 ? [{ name }] : [{ name }, { name: rest.slice(0, end) }];
}
