/** Percent, by country. */
export const RATES = {
  DE: 19,
  FI: 25.5,
  FR: 20,
};
