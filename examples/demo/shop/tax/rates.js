/** Percent, by country. */
export const RATES = {
  DE: 19,
  FI: 24,
  FR: 20,
};
