import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Sha } from '../../src/lib/sha.ts';
import { GitModel } from './git-model.ts';

function createModel() {
  const git = new GitModel();
  let at = 0;
  const commit = (parents: readonly Sha[], files: Readonly<Record<string, string>>) => {
    at += 1;
    const tree = git.writeTree(new Map(Object.entries(files)));
    return git.writeCommit({ parents, tree, author: 'Ada', message: 'x', at }).sha;
  };
  const merged = (target: Sha, head: Sha) => {
    const merge = git.merge(target, head);
    return merge.kind === 'clean' ? Object.fromEntries(git.getTree(merge.tree).files) : merge;
  };
  return { git, commit, merged };
}

describe('git model', () => {
  it('merges by path and by line', () => {
    const { commit, merged } = createModel();
    const base = commit([], { f: '1\n2\n3', gone: 'x', kept: 'k' });
    const ours = commit([base], { f: 'one\n2\n3', gone: 'x', kept: 'k', mine: 'm' });
    const theirs = commit([base], { f: '1\n2\nthree', kept: 'k', yours: 'y' });
    assert.deepEqual(merged(ours, theirs), { f: 'one\n2\nthree', kept: 'k', mine: 'm', yours: 'y' });
    const clash = commit([base], { f: 'uno\n2\n3', gone: 'changed', kept: 'k' });
    assert.deepEqual(merged(ours, clash), { kind: 'conflict', paths: ['f'] });
    assert.deepEqual(merged(theirs, clash), { kind: 'conflict', paths: ['gone'] });
    const longer = commit([base], { f: '0\n1\n2\n3', gone: 'x', kept: 'k' });
    assert.deepEqual(merged(ours, longer), { kind: 'conflict', paths: ['f'] });
    assert.deepEqual(merged(ours, commit([], { z: 'z' })), { kind: 'unrelated' });
  });

  it('finds the youngest commit in common', () => {
    const { git, commit, merged } = createModel();
    const root = commit([], { a: '0' });
    const main = commit([root], { a: '1' });
    const branch = commit([root], { a: '0', b: 'b' });
    const updated = commit([branch, main], { a: '1', b: 'b' });
    const later = commit([main], { a: '2' });
    assert.equal(git.findMergeBase(later, updated), main);
    assert.equal(git.findMergeBase(later, branch), root);
    assert.equal(git.findMergeBase(main, updated), main);
    assert.deepEqual(merged(later, updated), { a: '2', b: 'b' });
    assert.deepEqual(merged(updated, main), { a: '1', b: 'b' });
  });
});
