export function shippingFor(grams) {
  if (grams <= 2000) return 490;
  return 990;
}
