export function linePrice({ price, count }) {
  return price * count;
}
