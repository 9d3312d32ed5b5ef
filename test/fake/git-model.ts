import { hash } from 'node:crypto';
import type { Instant } from '../../src/lib/clock.ts';
import type { Sha } from '../../src/lib/sha.ts';
import { mergeFiles } from './merge-files.ts';

/** Content by path. There are no folders: a path is a plain name. */
export type Files = ReadonlyMap<string, string>;

/** Equal files have the same tree id. */
export interface ModelTree {
  readonly id: Sha;
  readonly files: Files;
}

export interface ModelCommit {
  readonly sha: Sha;
  readonly parents: readonly Sha[];
  readonly tree: Sha;
  readonly author: string;
  readonly message: string;
  readonly at: Instant;
  /** One more than the highest of its parents, so an ancestor always has a lower one. */
  readonly generation: number;
}

export interface CommitDraft {
  readonly parents: readonly Sha[];
  readonly tree: Sha;
  readonly author: string;
  readonly message: string;
  readonly at: Instant;
}

export interface RefChange {
  readonly ref: string;
  /** Undefined removes the ref. */
  readonly sha: Sha | undefined;
}

export type ModelMerge =
  | { readonly kind: 'clean'; readonly tree: Sha }
  | { readonly kind: 'conflict'; readonly paths: readonly string[] }
  /** The two share no commit. */
  | { readonly kind: 'unrelated' };

/** The part of git that a merge queue needs, in memory. */
export class GitModel {
  readonly #commits = new Map<Sha, ModelCommit>();
  readonly #trees = new Map<Sha, ModelTree>();
  readonly #refs = new Map<string, Sha>();
  readonly #merges = new Map<string, ModelMerge>();

  writeTree(files: Files): Sha {
    const sorted = [...files].sort(([a], [b]) => (a < b ? -1 : 1));
    const id = hash('sha1', JSON.stringify(sorted)) as Sha;
    if (!this.#trees.has(id)) this.#trees.set(id, { id, files: new Map(sorted) });
    return id;
  }

  getTree(id: Sha): ModelTree {
    return present(this.#trees.get(id), `tree ${id}`);
  }

  /** The same draft gives the same commit. */
  writeCommit(draft: CommitDraft): ModelCommit {
    const { parents, tree, author, message, at } = draft;
    const sha = hash('sha1', JSON.stringify(['commit', parents, tree, author, message, at])) as Sha;
    const known = this.#commits.get(sha);
    if (known !== undefined) return known;
    this.getTree(tree);
    const generation = 1 + Math.max(0, ...parents.map((parent) => this.getCommit(parent).generation));
    const commit = { sha, parents, tree, author, message, at, generation };
    this.#commits.set(sha, commit);
    return commit;
  }

  findCommit(sha: Sha): ModelCommit | undefined {
    return this.#commits.get(sha);
  }

  getCommit(sha: Sha): ModelCommit {
    return present(this.#commits.get(sha), `commit ${sha}`);
  }

  getFiles(sha: Sha): Files {
    return this.getTree(this.getCommit(sha).tree).files;
  }

  findRef(ref: string): Sha | undefined {
    return this.#refs.get(ref);
  }

  listRefs(prefix: string): readonly (readonly [ref: string, sha: Sha])[] {
    return [...this.#refs].filter(([ref]) => ref.startsWith(prefix));
  }

  changeRefs(changes: readonly RefChange[]): void {
    for (const { ref, sha } of changes) {
      if (sha === undefined) this.#refs.delete(ref);
      else this.#refs.set(ref, this.getCommit(sha).sha);
    }
  }

  isAncestor(ancestor: Sha, descendant: Sha): boolean {
    const wanted = this.#commits.get(ancestor);
    if (wanted === undefined) return false;
    const seen = new Set<Sha>();
    const open = [descendant];
    for (let sha = open.pop(); sha !== undefined; sha = open.pop()) {
      if (sha === ancestor) return true;
      if (seen.has(sha)) continue;
      seen.add(sha);
      const commit = this.getCommit(sha);
      if (commit.generation > wanted.generation) open.push(...commit.parents);
    }
    return false;
  }

  /** The youngest common ancestor. Undefined when they share none. */
  findMergeBase(one: Sha, other: Sha): Sha | undefined {
    const sides = new Map<Sha, number>();
    const open: ModelCommit[] = [];
    const visit = (sha: Sha, side: number) => {
      if (!sides.has(sha)) insertByGeneration(open, this.getCommit(sha));
      sides.set(sha, (sides.get(sha) ?? 0) | side);
    };
    visit(one, 1);
    visit(other, 2);
    for (let commit = open.pop(); commit !== undefined; commit = open.pop()) {
      const side = sides.get(commit.sha) ?? 0;
      if (side === 3) return commit.sha;
      for (const parent of commit.parents) visit(parent, side);
    }
    return undefined;
  }

  /** The tip and its first parents that `without` lacks, oldest first. */
  listFirstParents(tip: Sha, without: Sha): readonly ModelCommit[] {
    const list: ModelCommit[] = [];
    let next: Sha | undefined = tip;
    while (next !== undefined && !this.isAncestor(next, without)) {
      const commit: ModelCommit = this.getCommit(next);
      list.push(commit);
      next = commit.parents[0];
    }
    return list.reverse();
  }

  merge(target: Sha, head: Sha): ModelMerge {
    const key = target + head;
    const known = this.#merges.get(key);
    if (known !== undefined) return known;
    const base = this.findMergeBase(target, head);
    const treeOf = (sha: Sha) => this.getCommit(sha).tree;
    const merge: ModelMerge =
      base === undefined
        ? { kind: 'unrelated' }
        : this.mergeTrees({ base: treeOf(base), ours: treeOf(target), theirs: treeOf(head) });
    this.#merges.set(key, merge);
    return merge;
  }

  /** As git does it: where the two have several merge bases, those are merged first. */
  mergeOnAllBases(target: Sha, head: Sha): ModelMerge {
    const [first, ...others] = this.#listMergeBases(target, head);
    if (first === undefined || others.length === 0) return this.merge(target, head);
    let base = first;
    for (const other of others) {
      const merge = this.mergeOnAllBases(base, other);
      if (merge.kind !== 'clean') return this.merge(target, head);
      base = this.writeCommit({ parents: [base, other], tree: merge.tree, author: '', message: '', at: 0 }).sha;
    }
    const [baseTree, ours, theirs] = [base, target, head].map((sha) => this.getCommit(sha).tree) as [Sha, Sha, Sha];
    return this.mergeTrees({ base: baseTree, ours, theirs });
  }

  #listMergeBases(one: Sha, other: Sha): readonly Sha[] {
    const theirs = new Set(this.#listAncestors(other));
    const shared = this.#listAncestors(one).filter((sha) => theirs.has(sha));
    return shared.filter((sha) => !shared.some((young) => young !== sha && this.isAncestor(sha, young)));
  }

  /** And the commit itself. */
  #listAncestors(sha: Sha): readonly Sha[] {
    const seen = new Set<Sha>([sha]);
    for (const each of seen) for (const parent of this.getCommit(each).parents) seen.add(parent);
    return [...seen];
  }

  /** The commits that `without` lacks. */
  listOwn(tip: Sha, without: Sha): readonly Sha[] {
    return this.#listAncestors(tip).filter((sha) => !this.isAncestor(sha, without));
  }

  mergeTrees({ base, ours, theirs }: { readonly base: Sha; readonly ours: Sha; readonly theirs: Sha }): ModelMerge {
    if (base === ours || ours === theirs) return { kind: 'clean', tree: theirs };
    if (base === theirs) return { kind: 'clean', tree: ours };
    const filesOf = (id: Sha) => this.getTree(id).files;
    const merged = mergeFiles({ base: filesOf(base), ours: filesOf(ours), theirs: filesOf(theirs) });
    if (merged.conflicts.length > 0) return { kind: 'conflict', paths: merged.conflicts };
    return { kind: 'clean', tree: this.writeTree(merged.files) };
  }

  /** New content by path. Undefined when the file was removed. */
  listChanges(from: Sha, to: Sha): ReadonlyMap<string, string | undefined> {
    const [before, after] = [this.getTree(from).files, this.getTree(to).files];
    const changes = new Map<string, string | undefined>();
    for (const [path, content] of after) if (before.get(path) !== content) changes.set(path, content);
    for (const path of before.keys()) if (!after.has(path)) changes.set(path, undefined);
    return changes;
  }

  /** Removes unreachable commits and answers their number. Trees stay, so that tests can check the past. */
  collectGarbage(): number {
    const kept = new Set<Sha>();
    const open = [...this.#refs.values()];
    for (let sha = open.pop(); sha !== undefined; sha = open.pop()) {
      if (kept.has(sha)) continue;
      kept.add(sha);
      open.push(...this.getCommit(sha).parents);
    }
    const lost = [...this.#commits.keys()].filter((sha) => !kept.has(sha));
    for (const sha of lost) this.#commits.delete(sha);
    return lost.length;
  }
}

/** Keeps the list sorted, youngest last. */
function insertByGeneration(list: ModelCommit[], commit: ModelCommit): void {
  let place = list.length;
  while (place > 0 && (list[place - 1] as ModelCommit).generation > commit.generation) place -= 1;
  list.splice(place, 0, commit);
}

function present<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new RangeError(`there is no ${what}`);
  return value;
}
