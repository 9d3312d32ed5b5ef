// Runs dependency-cruiser over src with the rules of .dependency-cruiser.cjs. It needs Node 24.
import { globSync } from 'node:fs';
import { createRequire, registerHooks } from 'node:module';
import { findFolderCircles } from './lib/folder-circles.mjs';
import { projectRoot } from './lib/node24.mjs';

// dependency-cruiser parses with the TypeScript it finds and does not know version 7: it would read no module, find no
// violation and succeed. It gets version 6, and the number of modules is checked.
registerHooks({
  resolve: (specifier, context, next) => next(specifier.replace(/^typescript(?=$|\/)/, 'typescript-6'), context),
});

process.chdir(projectRoot);
const { cruise } = await import('dependency-cruiser');
const { default: extractTsConfig } = await import('dependency-cruiser/config-utl/extract-ts-config');
const rules = createRequire(import.meta.url)('../.dependency-cruiser.cjs');

const { output } = await cruise(
  ['src'],
  { ...rules.options, validate: true, ruleSet: { forbidden: rules.forbidden } },
  undefined,
  { tsConfig: extractTsConfig('tsconfig.json') },
);
const { modules, summary } = output;

for (const { rule, from, to, cycle } of summary.violations) {
  const path = cycle === undefined ? to : cycle.map(({ name }) => name).join(' -> ');
  const comment = rules.forbidden.find(({ name }) => name === rule.name)?.comment;
  console.error(`${rule.name}: ${from} -> ${path}${comment === undefined ? '' : `\n  ${comment}`}`);
}

const circles = findFolderCircles(modules);
for (const circle of circles) console.error(`folders import each other: ${circle.join(' -> ')}`);

const files = globSync('src/**/*.ts');
const read = new Set(modules.filter(({ source }) => source.startsWith('src/')).map(({ source }) => source));
const unread = files.filter((file) => !read.has(file));
if (files.length === 0 || unread.length > 0) {
  console.error(`dependency-cruiser read ${read.size} of the ${files.length} files in src; not read: ${unread}`);
  process.exitCode = 1;
} else if (!modules.some(({ dependencies }) => dependencies.length > 0)) {
  console.error('dependency-cruiser found no import at all in src; its parser does not work');
  process.exitCode = 1;
} else if (summary.violations.length > 0 || circles.length > 0) {
  process.exitCode = 1;
} else {
  console.log(`${read.size} files, ${summary.totalDependenciesCruised} imports`);
}
