import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  Kind,
  type SelectionSetNode,
  type ValueNode,
} from 'graphql';

/** GitHub refuses queries that could list more. */
export const MAX_NODES = 500_000;

export interface Weight {
  /** Maximum number of nodes that the query could list. */
  readonly nodes: number;
  /** Points of the rate limit, at least 1: a hundredth of the lists that GitHub may have to read. */
  readonly cost: number;
}

type Variables = Readonly<Record<string, unknown>>;

/** Computes the weight from the requested page sizes, whatever exists. */
export function weigh(document: DocumentNode, variables: Variables): Weight {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions)
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  let [nodes, lists] = [0, 0];

  function walk({ selections }: SelectionSetNode, times: number): void {
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) walkField(selection, times);
      else {
        const inner = selection.kind === Kind.INLINE_FRAGMENT ? selection : fragments.get(selection.name.value);
        if (inner !== undefined) walk(inner.selectionSet, times);
      }
    }
  }

  function walkField(field: FieldNode, times: number): void {
    const size = sizeOf(field, variables);
    if (size !== undefined) {
      lists += times;
      nodes += times * size;
    }
    if (field.selectionSet !== undefined) walk(field.selectionSet, times * (size ?? 1));
  }

  for (const definition of document.definitions)
    if (definition.kind === Kind.OPERATION_DEFINITION) walk(definition.selectionSet, 1);
  return { nodes, cost: Math.max(1, Math.round(lists / 100)) };
}

/** Undefined when the field is no paged list. */
function sizeOf({ arguments: given = [] }: FieldNode, variables: Variables): number | undefined {
  const sizes = given.filter(({ name }) => name.value === 'first' || name.value === 'last');
  return sizes.map(({ value }) => numberIn(value, variables)).find((size) => size !== undefined);
}

function numberIn(value: ValueNode, variables: Variables): number | undefined {
  if (value.kind === Kind.INT) return Number(value.value);
  const given = value.kind === Kind.VARIABLE ? variables[value.name.value] : undefined;
  return typeof given === 'number' ? given : undefined;
}
