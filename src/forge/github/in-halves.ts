import { isOverwhelmed } from './api/unavailable.ts';

/** GitHub gives up on a query after ten seconds. Then the query is split in two. */
export async function inHalves<Item, Answer>(
  items: readonly Item[],
  ask: (items: readonly Item[]) => Promise<readonly Answer[]>,
): Promise<readonly Answer[]> {
  try {
    return await ask(items);
  } catch (error) {
    if (!isOverwhelmed(error) || items.length < 2) throw error;
    const half = Math.ceil(items.length / 2);
    return [...(await inHalves(items.slice(0, half), ask)), ...(await inHalves(items.slice(half), ask))];
  }
}

export function chunksOf<Item>(items: readonly Item[], size: number): readonly (readonly Item[])[] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}
