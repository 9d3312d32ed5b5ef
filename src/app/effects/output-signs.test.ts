import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { OutputSigns } from './output-signs.ts';

function signsOf(output: string, size = output.length): OutputSigns {
  const signs = new OutputSigns();
  const bytes = Buffer.from(output);
  for (let at = 0; at < bytes.length; at += size) signs.read(bytes.subarray(at, at + size));
  return signs;
}

describe('the output of a failed command', () => {
  const missing: readonly (readonly [line: string, program: string | undefined])[] = [
    ['/bin/sh: 1: cargo: not found', 'cargo'],
    ['sh: 1: vitest: not found', 'vitest'],
    ['sh: gotestsum: not found', 'gotestsum'],
    ['bash: line 3: bazelisk: command not found', 'bazelisk'],
    ['make: bazelisk: No such file or directory', 'bazelisk'],
    ['make[2]: cc: Command not found', 'cc'],
    ['/usr/bin/env: ‘python’: No such file or directory', 'python'],
    ["env: 'ruby3.2': No such file or directory", 'ruby3.2'],
    ['Error: spawn docker ENOENT', 'docker'],
    ['exec: "gcc": executable file not found in $PATH', 'gcc'],
    ['cat: notes: No such file or directory', undefined],
    ['sh: 1: ./run: not found', undefined],
    ['the test was not found', undefined],
  ];
  for (const [line, program] of missing) {
    it(`names the program that was not found [R65]: ${line}`, () => {
      for (const size of [1, 7, 1_000]) assert.equal(signsOf(`a\n${line}\nb\n`, size).missing, program);
    });
  }

  it('names the last program of several [R65]', () => {
    assert.equal(signsOf('sh: 1: git: not found\nsh: 1: npm: not found\n').missing, 'npm');
  });

  const closed: readonly (readonly [line: string, path: string | undefined])[] = [
    ['mkdir: cannot create directory ‘/var/cache’: Read-only file system', '/var/cache'],
    ["Error: EROFS: read-only file system, open '/srv/out.txt'", '/srv/out.txt'],
    ["Error: EACCES: permission denied, mkdir '/srv/out'", '/srv/out'],
    ["PermissionError: [Errno 13] Permission denied: '/opt/data'", '/opt/data'],
    ["OSError: [Errno 30] Read-only file system: '/data/x.db'", '/data/x.db'],
    ['open /var/lib/x: permission denied', '/var/lib/x'],
    ["touch: cannot touch '/x': Permission denied", '/x'],
    ['Read-only file system', ''],
    ['fatal: permission denied (publickey)', undefined],
  ];
  for (const [line, path] of closed) {
    it(`names the place that could not be written [R65]: ${line}`, () => {
      for (const size of [1, 1_000]) assert.equal(signsOf(`a\n${line}\nb\n`, size).closed, path);
    });
  }

  it('tells of a missing network, also across pieces [R50]', () => {
    assert.equal(signsOf('curl: (6) Could not resolve host: example.test\n', 5).isOffline, true);
    assert.equal(signsOf('resolved\n').isOffline, false);
  });
});
