export function shippingFor(grams) {
  if (grams <= 1000) return 490;
  return 990;
}
