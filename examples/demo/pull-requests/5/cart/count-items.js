export function countItems(items) {
  return items.reduce((sum, { count }) => sum + count, 0);
}
