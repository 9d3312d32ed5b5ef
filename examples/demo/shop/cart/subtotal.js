import { linePrice } from './line-price.js';

export function subtotal(items) {
  return items.reduce((sum, item) => sum + linePrice(item), 0);
}
