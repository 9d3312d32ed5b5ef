/**
 * An immutable map from unsigned 32-bit integers. A write copies one path of at most seven small nodes, so two versions
 * share everything else. `changedKeys` walks only the paths that are not shared. Iteration order is unspecified.
 */
export interface IntMap<V> {
  readonly size: number;
  readonly root: Node<V> | undefined;
}

interface Leaf<V> {
  readonly key: number;
  readonly value: V;
}

/** `bitmap` has a bit for each child present; `children` holds them packed, in bit order. */
interface Branch<V> {
  readonly bitmap: number;
  readonly children: readonly Node<V>[];
}

type Node<V> = Leaf<V> | Branch<V>;

const BITS = 5;
const MASK = 31;
const EMPTY: IntMap<never> = { size: 0, root: undefined };

export function emptyIntMap<V>(): IntMap<V> {
  return EMPTY;
}

export function intMapOf<V>(entries: Iterable<readonly [number, V]>): IntMap<V> {
  let map = emptyIntMap<V>();
  for (const [key, value] of entries) map = setIn(map, key, value);
  return map;
}

export function getIn<V>(map: IntMap<V>, key: number): V | undefined {
  let node = map.root;
  for (let shift = 0; node !== undefined; shift += BITS) {
    if ('key' in node) return node.key === key ? node.value : undefined;
    const bit = bitAt(key, shift);
    if ((node.bitmap & bit) === 0) return undefined;
    node = node.children[indexOf(node.bitmap, bit)];
  }
  return undefined;
}

export function setIn<V>(map: IntMap<V>, key: number, value: V): IntMap<V> {
  const leaf: Leaf<V> = { key, value };
  if (map.root === undefined) return { size: 1, root: leaf };
  const root = setNode(map.root, leaf, 0);
  if (root === map.root) return map;
  return { size: getIn(map, key) === undefined ? map.size + 1 : map.size, root };
}

export function deleteIn<V>(map: IntMap<V>, key: number): IntMap<V> {
  if (map.root === undefined) return map;
  const root = deleteNode(map.root, key, 0);
  if (root === map.root) return map;
  return { size: map.size - 1, root };
}

export function* valuesOf<V>(map: IntMap<V>): Generator<V> {
  if (map.root !== undefined) yield* valuesOfNode(map.root);
}

/** Returns all values at once, which is faster than iterating. */
export function listOf<V>(map: IntMap<V>): V[] {
  const values: V[] = [];
  if (map.root !== undefined) collectValues(map.root, values);
  return values;
}

function collectValues<V>(node: Node<V>, values: V[]): void {
  if ('key' in node) values.push(node.value);
  else for (const child of node.children) collectValues(child, values);
}

/** The keys whose values are not identical in the two maps, in no particular order. */
export function changedKeys<V>(before: IntMap<V>, after: IntMap<V>): number[] {
  const keys: number[] = [];
  collectChanges(before.root, after.root, 0, keys);
  return keys;
}

function bitAt(key: number, shift: number): number {
  return 1 << ((key >>> shift) & MASK);
}

function indexOf(bitmap: number, bit: number): number {
  return popCount(bitmap & (bit - 1));
}

function popCount(bits: number): number {
  let n = bits - ((bits >>> 1) & 0x55555555);
  n = (n & 0x33333333) + ((n >>> 2) & 0x33333333);
  return Math.imul((n + (n >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

function setNode<V>(node: Node<V>, leaf: Leaf<V>, shift: number): Node<V> {
  if ('key' in node) {
    if (node.key === leaf.key) return node.value === leaf.value ? node : leaf;
    return joinLeaves(node, leaf, shift);
  }
  const bit = bitAt(leaf.key, shift);
  const index = indexOf(node.bitmap, bit);
  if ((node.bitmap & bit) === 0) {
    return { bitmap: node.bitmap | bit, children: node.children.toSpliced(index, 0, leaf) };
  }
  const child = node.children[index] as Node<V>;
  const next = setNode(child, leaf, shift + BITS);
  return next === child ? node : { bitmap: node.bitmap, children: node.children.with(index, next) };
}

function joinLeaves<V>(a: Leaf<V>, b: Leaf<V>, shift: number): Branch<V> {
  const bitA = bitAt(a.key, shift);
  const bitB = bitAt(b.key, shift);
  if (bitA === bitB) return { bitmap: bitA, children: [joinLeaves(a, b, shift + BITS)] };
  // Compared unsigned, because the 32nd bit makes a shifted number negative.
  return { bitmap: bitA | bitB, children: bitA >>> 0 < bitB >>> 0 ? [a, b] : [b, a] };
}

function deleteNode<V>(node: Node<V>, key: number, shift: number): Node<V> | undefined {
  if ('key' in node) return node.key === key ? undefined : node;
  const bit = bitAt(key, shift);
  if ((node.bitmap & bit) === 0) return node;
  const index = indexOf(node.bitmap, bit);
  const child = node.children[index] as Node<V>;
  const next = deleteNode(child, key, shift + BITS);
  if (next === child) return node;
  if (next !== undefined) return { bitmap: node.bitmap, children: node.children.with(index, next) };
  if (node.children.length === 1) return undefined;
  const children = node.children.toSpliced(index, 1);
  // A lone leaf moves up, so that equal contents always have equal shapes and lookups stay short.
  const only = children[0] as Node<V>;
  if (children.length === 1 && 'key' in only) return only;
  return { bitmap: node.bitmap & ~bit, children };
}

function* valuesOfNode<V>(node: Node<V>): Generator<V> {
  if ('key' in node) yield node.value;
  else for (const child of node.children) yield* valuesOfNode(child);
}

function collectChanges<V>(a: Node<V> | undefined, b: Node<V> | undefined, shift: number, keys: number[]): void {
  if (a === b) return;
  if (a === undefined || b === undefined || 'key' in a || 'key' in b) {
    collectLeafChanges(a, b, keys);
    return;
  }
  if (a.bitmap === b.bitmap) {
    for (let index = 0; index < a.children.length; index++) {
      collectChanges(a.children[index], b.children[index], shift + BITS, keys);
    }
    return;
  }
  for (let slot = 0; slot <= MASK; slot++) {
    const bit = 1 << slot;
    if (((a.bitmap | b.bitmap) & bit) === 0) continue;
    const childA = (a.bitmap & bit) === 0 ? undefined : a.children[indexOf(a.bitmap, bit)];
    const childB = (b.bitmap & bit) === 0 ? undefined : b.children[indexOf(b.bitmap, bit)];
    collectChanges(childA, childB, shift + BITS, keys);
  }
}

/** One side is at most one leaf: compare the few leaves below both by key. */
function collectLeafChanges<V>(a: Node<V> | undefined, b: Node<V> | undefined, keys: number[]): void {
  if (a !== undefined && b !== undefined && 'key' in a && 'key' in b && a.key === b.key) {
    if (a.value !== b.value) keys.push(a.key);
    return;
  }
  const before = new Map<number, V>();
  if (a !== undefined) for (const leaf of leavesOf(a)) before.set(leaf.key, leaf.value);
  if (b !== undefined) {
    for (const leaf of leavesOf(b)) {
      if (before.get(leaf.key) !== leaf.value) keys.push(leaf.key);
      before.delete(leaf.key);
    }
  }
  keys.push(...before.keys());
}

function* leavesOf<V>(node: Node<V>): Generator<Leaf<V>> {
  if ('key' in node) yield node;
  else for (const child of node.children) yield* leavesOf(child);
}
