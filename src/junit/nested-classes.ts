/**
 * Surefire and classes inside classes: it writes the tests of a class into the report of a class inside of it, and those
 * that it runs again into another one, which declares no tests.
 */
import type { AttemptMarker, JunitStatus } from './junit-case.ts';
import type { SuiteFrame } from './suite-frame.ts';

/** The suite that a case belongs to: its own class, where it stands in the report of a class inside or around it. */
export function suiteOf(suite: string, classname: string | null): string {
  return classname !== null && isNested(suite, classname) ? classname : suite;
}

/** Which try it is: the first one fails in the wrong report, a later one passes in that of its own class. */
export function nestedAttempt(
  test: { readonly status: JunitStatus; readonly classname: string | null; readonly reruns: readonly unknown[] },
  suite: SuiteFrame | undefined,
): AttemptMarker | null {
  const { classname } = test;
  if (suite === undefined || classname === null) return null;
  const isFirst = test.status === 'failure' && test.reruns.length === 0 && isNested(suite.name, classname);
  if (isFirst) return { name: 'nested', value: 0 };
  const isLater = test.status === 'success' && suite.name === classname && suite.declared.tests === 0;
  return isLater ? { name: 'nested', value: 1 } : null;
}

function isNested(suite: string, classname: string): boolean {
  if (suite === classname || !(suite.includes('$') || classname.includes('$'))) return false;
  return outermost(suite) === outermost(classname);
}

function outermost(name: string): string {
  const end = name.indexOf('$');
  return end === -1 ? name : name.slice(0, end);
}
