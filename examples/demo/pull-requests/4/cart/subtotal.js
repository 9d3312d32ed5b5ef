export function subtotal(items) {
  return items.reduce((sum, { price }) => sum + price, 0);
}
