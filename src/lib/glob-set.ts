import type { Glob } from './glob.ts';
import { matchesName, type NamedSegment, type Segment, starredAffixes } from './path-pattern.ts';

/** A state of all patterns at once. */
interface Node<Id> {
  readonly literals: Map<string, Node<Id>>;
  /** `*x` by x, which files of a kind have in common, and how long each x is. */
  readonly endings: Map<string, Node<Id>>;
  readonly lengths: Set<number>;
  readonly others: { readonly key: string; readonly segment: NamedSegment; readonly next: Node<Id> }[];
  /** Behind `**`: it also takes any folder and stays. */
  readonly isStar: boolean;
  star: Node<Id> | undefined;
  readonly ids: Id[];
}

/** So many folders are remembered, then all are forgotten. */
const MAX_FOLDERS = 20_000;

/**
 * Many globs, compared with a path at once. Patterns with an equal beginning share it, and files of one folder share the
 * comparison of the folder. The work for a path is bounded by its length x the lengths of all patterns.
 */
// SPEC T9
export class GlobSet<Id> {
  readonly #root: Node<Id> = createNode(false);
  readonly #folders = new Map<string, readonly Node<Id>[]>();

  add({ patterns }: Glob, id: Id): void {
    for (const { segments } of patterns) {
      let node = this.#root;
      for (const segment of segments) node = follow(node, segment);
      node.ids.push(id);
    }
    this.#folders.clear();
  }

  /** The ids of the globs that match, each once. */
  match(path: string): readonly Id[] {
    const cut = path.lastIndexOf('/');
    const nodes = advance(this.#statesIn(cut < 0 ? undefined : path.slice(0, cut)), path.slice(cut + 1));
    const found = new Set<Id>();
    for (const { ids } of nodes) for (const id of ids) found.add(id);
    return [...found];
  }

  #statesIn(folder: string | undefined): readonly Node<Id>[] {
    let nodes = withStars([this.#root]);
    if (folder === undefined) return nodes;
    let end = folder.length;
    for (; end > 0; end = Math.max(0, folder.lastIndexOf('/', end - 1))) {
      const known = this.#folders.get(folder.slice(0, end));
      if (known === undefined) continue;
      nodes = known;
      break;
    }
    while (end < folder.length) {
      const begin = end === 0 ? 0 : end + 1;
      const next = folder.indexOf('/', begin);
      end = next < 0 ? folder.length : next;
      nodes = nodes.length === 0 ? nodes : advance(nodes, folder.slice(begin, end));
      if (this.#folders.size >= MAX_FOLDERS) this.#folders.clear();
      this.#folders.set(folder.slice(0, end), nodes);
    }
    return nodes;
  }
}

function createNode<Id>(isStar: boolean): Node<Id> {
  return {
    ...{ literals: new Map(), endings: new Map(), lengths: new Set(), others: [] },
    ...{ isStar, star: undefined, ids: [] },
  };
}

function follow<Id>(node: Node<Id>, segment: Segment): Node<Id> {
  if (segment === 'globstar') {
    node.star ??= createNode(true);
    return node.star;
  }
  if ('literal' in segment) return followText(node.literals, segment.literal);
  const affixes = starredAffixes(segment);
  if (affixes?.before !== '') return followOther(node, segment);
  node.lengths.add(affixes.behind.length);
  return followText(node.endings, affixes.behind);
}

function followText<Id>(nodes: Map<string, Node<Id>>, text: string): Node<Id> {
  const next = nodes.get(text) ?? createNode<Id>(false);
  nodes.set(text, next);
  return next;
}

function followOther<Id>({ others }: Node<Id>, segment: NamedSegment): Node<Id> {
  const key = JSON.stringify(segment);
  const known = others.find((other) => other.key === key);
  if (known !== undefined) return known.next;
  const next = createNode<Id>(false);
  others.push({ key, segment, next });
  return next;
}

function advance<Id>(nodes: readonly Node<Id>[], name: string): readonly Node<Id>[] {
  const reached: Node<Id>[] = [];
  for (const node of nodes) {
    if (node.isStar) reached.push(node);
    const next = node.literals.get(name);
    if (next !== undefined) reached.push(next);
    for (const length of node.lengths) {
      const ending = length <= name.length ? node.endings.get(name.slice(name.length - length)) : undefined;
      if (ending !== undefined) reached.push(ending);
    }
    for (const { segment, next: other } of node.others) if (matchesName(segment, name)) reached.push(other);
  }
  return withStars(reached);
}

/** `**` may also stand for no folder. Only what stands behind `**` can be reached in two ways. */
function withStars<Id>(nodes: readonly Node<Id>[]): readonly Node<Id>[] {
  let all: Set<Node<Id>> | undefined;
  for (const { star } of nodes) if (star !== undefined) all = (all ?? new Set(nodes)).add(star);
  return all === undefined ? nodes : [...all];
}
