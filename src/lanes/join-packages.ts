import { readCargo } from './cargo.ts';
import { readGo } from './go.ts';
import { BadManifest, type Lanes, type Manifest, type Package, type Problem, type Rules } from './lanes.ts';
import { readNpm } from './npm.ts';
import { ManifestFiles, type PackageDraft } from './package-draft.ts';
import { isTargetName } from './parse-rules.ts';

/** Reads the packages of all workspaces from their manifests. Nothing of the repository is run. */
// SPEC T8
export function joinPackages(rules: Rules, manifests: readonly Manifest[]): Lanes | Problem {
  if (!rules.readsWorkspaces) return { rules, packages: [] };
  try {
    const files = new ManifestFiles(manifests);
    const packages: Package[] = [];
    // Names of two ecosystems do not mean each other.
    for (const read of [readNpm, readGo, readCargo]) packages.push(...linked(read(files), packages.length));
    return { rules, packages };
  } catch (error) {
    if (error instanceof BadManifest) return { problem: `Its workspaces are not known: ${error.message}.` };
    throw error;
  }
}

function linked(drafts: readonly PackageDraft[], first: number): readonly Package[] {
  const byName = Map.groupBy(drafts.keys(), (index) => drafts[index]?.name ?? '');
  const byFolder = new Map([...drafts.entries()].map(([index, { folder }]) => [folder, index]));
  const dependents = drafts.map(() => new Set<number>());
  for (const [index, { needs }] of drafts.entries()) {
    for (const need of needs) {
      const found = 'name' in need ? (byName.get(need.name) ?? []) : [byFolder.get(need.folder)];
      for (const each of found) if (each !== undefined && each !== index) dependents[each]?.add(first + index);
    }
  }
  return drafts.map(({ name, folder }, index) => ({
    name: isTargetName(name) ? name : isTargetName(folder) ? folder : `package ${first + index}`,
    folder,
    dependents: [...(dependents[index] ?? [])],
  }));
}
