import type { JunitCase } from './junit-case.ts';

/**
 * A case with paths relative to the folder that the repository was checked out to. PHPUnit and node write whole paths, also
 * as names of suites, and CI checks out to another folder each time: without this, one test is many.
 */
export function relativeCase(test: JunitCase, root: string | null): JunitCase {
  if (root === null || root === '') return test;
  const file = test.file === null ? null : relativeTo(test.file, root);
  const suite = relativeTo(test.suite, root);
  const isSame =
    file === test.file && suite === test.suite && test.suites.every((name) => relativeTo(name, root) === name);
  return isSame ? test : { ...test, file, suite, suites: test.suites.map((name) => relativeTo(name, root)) };
}

function relativeTo(path: string, root: string): string {
  const folder = root.replace(/[/\\]+$/, '');
  const isInside = folder !== '' && path.startsWith(folder) && /^[/\\]/.test(path.slice(folder.length));
  if (!isInside) return path;
  const relative = path.slice(folder.length).replace(/^[/\\]+/, '');
  // Elsewhere a backslash is a letter like any other.
  return folder.includes('\\') ? relative.replaceAll('\\', '/') : relative;
}
