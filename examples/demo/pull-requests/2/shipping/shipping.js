export function shippingFor(grams) {
  if (grams <= 1000) return 390;
  return 990;
}
