// `npm run sbom` lists the packages of a production install, from the lock file alone.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

interface Package {
  readonly name?: string;
  readonly version: string;
  readonly license?: string;
  readonly hasInstallScript?: true;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

interface Sbom {
  readonly components: readonly {
    readonly 'bom-ref': string;
    readonly group?: string;
    readonly name: string;
    readonly version: string;
    readonly licenses: readonly { readonly license?: { readonly id: string }; readonly expression?: string }[];
    readonly hashes: readonly { readonly alg: string; readonly content: string }[];
  }[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

const readJson = <T>(path: string): T => JSON.parse(readFileSync(`${ROOT}/${path}`, 'utf8')) as T;
const { packages } = readJson<{ packages: Record<string, Package> }>('package-lock.json');
const sbom = JSON.parse(
  execFileSync(process.execPath, ['scripts/sbom.mjs'], { cwd: ROOT, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 }),
) as Sbom;
const listed = new Map(
  sbom.components.map((each) => [
    `${each.group === undefined ? '' : `${each.group}/`}${each.name}@${each.version}`,
    each,
  ]),
);

/** Follows package.json instead of the lock file's own marks. */
function productionPaths(): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (path: string): void => {
    const { dependencies = {}, optionalDependencies = {} } = packages[path] as Package;
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const place = placesOf(path, name).find((each) => packages[each] !== undefined);
      if (place === undefined || found.has(place)) continue;
      found.add(place);
      visit(place);
    }
  };
  visit('');
  return found;
}

function placesOf(path: string, name: string): readonly string[] {
  const parts = path === '' ? [] : path.split(/\/?node_modules\//).slice(1);
  return Array.from({ length: parts.length + 1 }, (_, index) =>
    [...parts.slice(0, parts.length - index), name].map((part) => `node_modules/${part}`).join('/'),
  );
}

const nameOf = (path: string): string =>
  packages[path]?.name ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);

describe('the bill of materials', () => {
  it('names every package of a production install with its licence, and no other', () => {
    const expected = new Set([...productionPaths()].map((path) => `${nameOf(path)}@${packages[path]?.version}`));
    assert.ok(expected.size > 50);
    assert.deepEqual([...listed.keys()].sort(), [...expected].sort());
    for (const [name, { licenses, hashes }] of listed) {
      const [first] = licenses;
      assert.equal(licenses.length, 1, `${name} has no licence`);
      assert.ok((first?.license?.id ?? first?.expression ?? '') !== '', name);
      assert.ok(
        hashes.some(({ alg, content }) => alg === 'SHA-512' && /^[0-9a-f]{128}$/.test(content)),
        name,
      );
    }
  });

  it('names no package that runs a script when it is installed, and none that only bundles', () => {
    const paths = [...productionPaths()];
    assert.deepEqual(
      paths.filter((path) => packages[path]?.hasInstallScript || /\/(?:esbuild|@esbuild|@?preact)\b/.test(path)),
      [],
    );
  });

  it('has the licences that the installed packages name themselves', () => {
    const installed = [...productionPaths()].filter((path) => existsSync(`${ROOT}/${path}/package.json`));
    assert.ok(installed.length > 50);
    for (const path of installed) {
      const { license, version } = readJson<Package>(`${path}/package.json`);
      const [given] = listed.get(`${nameOf(path)}@${version}`)?.licenses ?? [];
      assert.equal(given?.license?.id ?? given?.expression, license, path);
    }
  });

  it('says what each package depends on, and names nothing that it does not list', () => {
    const refs = new Set(sbom.components.map((each) => each['bom-ref']));
    const [own, ...others] = sbom.dependencies;
    assert.ok(own?.dependsOn.some((ref) => ref.startsWith('pkg:npm/fastify@')));
    assert.deepEqual(new Set(others.map(({ ref }) => ref)), refs);
    for (const { dependsOn } of sbom.dependencies) for (const ref of dependsOn) assert.ok(refs.has(ref), ref);
  });
});
