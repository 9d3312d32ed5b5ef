export function linePrice({ price, count }) {
  const full = price * count;
  return count < 10 ? full : Math.round(full * 0.9);
}
